import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { until } from "../helpers/until.ts";

const KILLS = runs(1, 10);
const DELETES_PER_KILL = 25;
const CALLS_PER_TRACE = 15;
const random = seededRandom();
const project_id = "acme/kill-delete";

const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-delete-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };

const traces = Array.from({ length: KILLS * DELETES_PER_KILL * 2 }, (_, n) => `t${n}`);
/** Every second trace is to be deleted; the others must stay as they are. */
const doomed = traces.filter((_, n) => n % 2 === 0);

function callsOf(trace: string) {
  return Array.from({ length: CALLS_PER_TRACE }, (_, n) => ({
    id: `${trace}-${n}`,
    trace_id: trace,
    parent_id: n === 0 ? null : `${trace}-${Math.floor((n - 1) / 2)}`,
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    ended_at: "2026-01-01T00:00:01Z",
    summary: { usage: { m: { requests: 1 } } },
  }));
}

function feedbackOf(trace: string) {
  return {
    project_id,
    id: trace,
    weave_ref: `weave:///${project_id}/call/${trace}`,
    feedback_type: "custom",
    payload: { score: 1 },
  };
}

async function answered(service: ServiceProcess, path: string, body: unknown): Promise<object | undefined> {
  try {
    const response = await service.post(path, body);
    const answer = (await response.json()) as object;
    return response.ok ? answer : undefined;
  } catch {
    return undefined;
  }
}

const deleteTrace = (service: ServiceProcess, trace: string) =>
  answered(service, "/calls/delete", { project_id, call_ids: [`${trace}-0`] });

const purgeFeedback = (service: ServiceProcess, trace: string) =>
  answered(service, "/feedback/purge", {
    project_id,
    query: { $expr: { $eq: [{ $getField: "id" }, { $literal: trace }] } },
  });

async function asked(
  service: ServiceProcess,
  method: string,
  path: string,
): Promise<{ id: string } | undefined> {
  try {
    const answer = await fetch(service.url + path, { method, headers: { authorization: authorization() } });
    return answer.ok ? ((await answer.json()) as { id: string }) : undefined;
  } catch {
    return undefined;
  }
}

/** How many calls each trace has left, and which traces have feedback. */
async function left(service: ServiceProcess) {
  const usage = (await answered(service, "/trace/usage", { project_id, limit: 1_000_000 })) as {
    call_usage: object;
  };
  const counts = new Map<string, number>();
  for (const id of Object.keys(usage.call_usage)) {
    const trace = id.split("-")[0]!;
    counts.set(trace, (counts.get(trace) ?? 0) + 1);
  }
  const query = { project_id, fields: ["id"], limit: 10_000 };
  const feedback = (await answered(service, "/feedback/query", query)) as { result: { id: string }[] };
  return { counts, feedback: new Set(feedback.result.map((row) => row.id)) };
}

describe(`kill -9 during deletes of calls, feedback and projects (seed ${random.seed})`, () => {
  it(`restores nothing and deletes nothing else, over ${KILLS} kills`, async () => {
    let service = await startProcess(settings);
    await answered(service, `/v2/${project_id}/calls/complete`, { batch: traces.flatMap(callsOf) });
    await answered(service, "/feedback/batch/create", { batch: traces.map(feedbackOf) });
    expect((await left(service)).counts.size).toBe(traces.length);

    const queue = [...doomed];
    const deleted = new Set<string>();
    const purged = new Set<string>();
    const work = async (): Promise<void> => {
      for (let trace = queue.pop(); trace !== undefined; trace = queue.pop()) {
        const [gone, silent] = await Promise.all([
          deleteTrace(service, trace),
          purgeFeedback(service, trace),
        ]);
        if (gone !== undefined) deleted.add(trace);
        if (silent !== undefined) purged.add(trace);
        if (gone === undefined || silent === undefined) return;
      }
    };
    for (let kill = 0; kill < KILLS; kill++) {
      const project = `acme/doomed-${kill}`;
      await answered(service, `/v2/${project}/calls/complete`, { batch: callsOf("t") });
      const workers = Array.from({ length: 6 }, work);
      const enough = deleted.size + 1 + random.next() * 6;
      await until(() => deleted.size > enough);
      const asking = asked(service, "DELETE", `/projects/${project}`);
      await delay(random.next() * 60);
      await service.end("SIGKILL");
      await Promise.all(workers);
      service = await startProcess(settings);
      const receipt = (await asking) ?? (await asked(service, "DELETE", `/projects/${project}`));
      expect(await asked(service, "GET", `/deletions/${receipt?.id}`)).toMatchObject({ what: "project" });
      expect(await answered(service, "/calls/query_stats", { project_id: project })).toMatchObject({
        count: 0,
      });
      const { counts, feedback } = await left(service);
      const partly = [...counts].filter(([, count]) => count !== CALLS_PER_TRACE);
      expect(partly, "a trace is deleted as a whole").toEqual([]);
      expect([...deleted].filter((trace) => counts.has(trace))).toEqual([]);
      expect([...purged].filter((trace) => feedback.has(trace))).toEqual([]);
    }

    // clients that got no answer ask again
    for (let sent = 0; sent < doomed.length; sent += DELETES_PER_KILL) {
      const some = doomed.slice(sent, sent + DELETES_PER_KILL);
      const again = some.flatMap((trace) => [deleteTrace(service, trace), purgeFeedback(service, trace)]);
      expect(await Promise.all(again)).not.toContain(undefined);
    }
    const { counts, feedback } = await left(service);
    const kept = traces.filter((trace) => !doomed.includes(trace));
    expect([...counts.keys()].toSorted()).toEqual(kept.toSorted());
    expect([...feedback].toSorted()).toEqual(kept.toSorted());
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
