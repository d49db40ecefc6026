import { expect } from "vitest";
import { settleAll } from "../../helpers/settle.ts";
import { authorization, type TestApp } from "../../helpers/start-app.ts";
import { keyOf, Model, startOf } from "./model.ts";
import { HOUR_MS, KEPT_DAYS, type Sent, type Step } from "./steps.ts";
import type { World } from "./world.ts";

/** The projects of a run, and what they were when the backup was made. */
export interface Run {
  readonly world: World;
  readonly names: readonly string[];
  models: readonly Model[];
  backup: readonly Model[] | undefined;
}

const iso = (ms: number): string => new Date(ms).toISOString();

export async function takeStep(run: Run, step: Step): Promise<void> {
  const { world, names, models } = run;
  const model = models[step.project]!;
  const project_id = names[step.project]!;
  const app = world.app(step.app);
  switch (step.does) {
    case "restart":
      return world.restart();
    case "rebuild":
      return world.rebuild();
    case "settle":
      await settleAll(world.engine);
      return;
    case "backup":
      await world.backUp();
      run.backup = models.map((one) => new Model(one));
      return;
    case "restore":
      if (run.backup === undefined) return;
      await world.restore();
      run.models = run.backup.map((one) => new Model(one));
      return;
    case "delete project":
      await request(app, { method: "DELETE", url: `/projects/${project_id}` }, 202);
      return model.deleteProject();
    case "retention":
      await keep(app, project_id, KEPT_DAYS);
      await world.expire();
      await keep(app, project_id, null);
      return model.expire();
    case "start":
    case "end":
    case "batch":
    case "complete":
    case "spans":
    case "update":
    case "feedback":
    case "delete":
      return send({ app, project_id, model }, step);
  }
}

async function keep(app: TestApp, project_id: string, days: number | null): Promise<void> {
  await request(app, { method: "PUT", url: `/projects/${project_id}/retention`, payload: { days } }, 200);
}

async function request(
  { app }: TestApp,
  sent: { method: "PUT" | "DELETE"; url: string; payload?: object },
  status: number,
): Promise<void> {
  const answer = await app.inject({ ...sent, headers: { authorization: authorization() } });
  expect(answer.statusCode, answer.payload).toBe(status);
}

interface Sending {
  readonly app: TestApp;
  readonly project_id: string;
  readonly model: Model;
}

const sayStart = ({ model }: Sending, sent: Sent): object => {
  const { id, trace, parent } = keyOf("call", sent.call);
  model.say(id, { startedMs: startOf(sent) });
  return {
    id,
    trace_id: trace,
    parent_id: parent,
    op_name: "op",
    started_at: iso(startOf(sent)),
    inputs: {},
    attributes: { of: "x" },
  };
};

const sayEnd = ({ model }: Sending, sent: Sent): object => {
  const { id } = keyOf("call", sent.call);
  const endedMs = startOf(sent) + sent.tokens * HOUR_MS;
  model.say(id, { endedMs, tokens: sent.tokens });
  return {
    id,
    ended_at: iso(endedMs),
    output: null,
    summary: { usage: { m: { prompt_tokens: sent.tokens } } },
  };
};

async function send(
  sending: Sending,
  step: Extract<Step, { of: Sent } | { all: readonly Sent[] }>,
): Promise<void> {
  const { app, project_id, model } = sending;
  const post = async (url: string, body: object): Promise<void> => {
    const answer = await app.post(url, body);
    expect(answer.status, answer.text).toBe(200);
    expect((answer.json() as { rejected?: unknown[] }).rejected ?? [], answer.text).toEqual([]);
  };
  switch (step.does) {
    case "start":
      return post("/call/start", { start: { project_id, ...sayStart(sending, step.of) } });
    case "end":
      return post("/call/end", { end: { project_id, ...sayEnd(sending, step.of) } });
    case "update": {
      const { id } = keyOf("call", step.of.call);
      model.say(id, { name: "renamed" });
      return post("/call/update", { project_id, call_id: id, display_name: "renamed" });
    }
    case "delete": {
      const { id } = keyOf("call", step.of.call);
      model.delete(id);
      return post("/calls/delete", { project_id, call_ids: [id] });
    }
    case "feedback": {
      model.feedback++;
      const weave_ref = `weave:///${project_id}/call/${keyOf("call", step.of.call).id}`;
      return post("/feedback/create", {
        project_id,
        weave_ref,
        feedback_type: "tone",
        payload: { score: 1 },
      });
    }
    case "batch": {
      const batch = step.all.map((sent, at) =>
        at % 2 === 0
          ? { mode: "start", req: { start: { project_id, ...sayStart(sending, sent) } } }
          : { mode: "end", req: { end: { project_id, ...sayEnd(sending, sent) } } },
      );
      return post("/call/upsert_batch", { batch });
    }
    case "complete": {
      const batch = step.all.map((sent) => ({
        project_id,
        ...sayStart(sending, sent),
        ...sayEnd(sending, sent),
      }));
      return post(`/v2/${project_id}/calls/complete`, { batch });
    }
    case "spans":
      return post("/otel/v1/traces", exportOf(sending, step.all));
  }
}

/** A span is told whole: its last end holds. */
function exportOf({ project_id, model }: Sending, all: readonly Sent[]): object {
  const spans = all.map((sent) => {
    const { id, trace, parent } = keyOf("span", sent.call);
    const startedMs = startOf(sent);
    model.say(id, { startedMs, endedMs: startedMs + 1 });
    return {
      traceId: trace,
      spanId: id,
      parentSpanId: parent ?? "",
      name: "span",
      startTimeUnixNano: `${startedMs}000000`,
      endTimeUnixNano: `${startedMs + 1}000000`,
      attributes: [],
    };
  });
  const attributes = [{ key: "sumtree.project", value: { stringValue: project_id } }];
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
}
