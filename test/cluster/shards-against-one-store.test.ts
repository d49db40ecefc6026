import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import type { Project } from "../../src/shared/project.ts";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { createJobStore } from "../../src/training-jobs/job-store.ts";
import type { Job } from "../../src/training-jobs/job.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, startAppOn, type TestApp, type TestResponse } from "../helpers/start-app.ts";
import {
  clusterName,
  countShards,
  openCluster,
  replicaCount,
  testCluster,
  type TestCluster,
} from "../helpers/test-cluster.ts";
import { anthropic, gemini, openaiChat, responses } from "../models/chat-formats/api-formats.ts";
import { drawConversation } from "../models/chat-formats/conversation.ts";

const shards = await countShards();
const project_id = "acme/equal" as Project;
const random = seededRandom();
const below = (most: number): number => Math.floor(random.next() * most);
const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
const chance = (part: number): boolean => random.next() < part;

const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 4, 1);
const CALLS = 160;
const FORMATS = [openaiChat, anthropic, responses, gemini];
const score = { json_path: "score", op: "$gte", value: 0.5 };

interface Sent {
  readonly id: string;
  readonly trace_id: string;
}

/** Chats of a few prompts, in traces that have several hours. */
function drawCalls(): readonly Sent[] {
  const prompts = Array.from({ length: 6 }, (_, at) => drawConversation(random, `m${at}`));
  const calls: Sent[] = [];
  for (let at = 0; at < CALLS; at++) {
    const above = calls.length === 0 || chance(0.4) ? undefined : oneOf(calls);
    const startedMs = BEGIN_MS + below(60) * (HOUR_MS / 4);
    const prompt = oneOf(prompts);
    const calledTools = prompt.answer.calls.length > 0;
    // some examples repeat
    const answer = chance(0.4) || calledTools ? prompt.answer : { text: `I am ${at}.`, calls: [] };
    calls.push({
      id: `c${at}`,
      trace_id: above?.trace_id ?? `t${at}`,
      ...oneOf(FORMATS)({ ...prompt, answer }),
      project_id,
      parent_id: above !== undefined && chance(0.6) ? above.id : null,
      thread_id: chance(0.4) ? null : `h${below(9)}`,
      op_name: oneOf(["answer", "plan"]),
      started_at: new Date(startedMs).toISOString(),
      ...(chance(0.9) && { ended_at: new Date(startedMs + 1 + below(5000)).toISOString() }),
      ...(chance(0.1) && { exception: "boom" }),
      attributes: { tenant: below(3) },
      summary: {
        usage: {
          [oneOf(["gpt-4o", "claude-sonnet-4-5", "our-own"])]: {
            prompt_tokens: below(10_000),
            completion_tokens: below(999),
          },
        },
      },
    } as Sent);
  }
  return calls;
}

/** Ratings of which some are late, and some replace earlier ones. Their sums are exact, whatever their order. */
function drawFeedback(calls: readonly Sent[]): readonly { readonly id: string }[] {
  const ids = Array.from({ length: 2 * CALLS }, () => idOf(below(2 ** 40)));
  const places = [...ids.keys()].toSorted(() => random.next() - 0.5);
  const feedback = ids.map((id, at) => ({
    project_id,
    id,
    weave_ref: `weave:///${project_id}/call/${oneOf(calls).id}`,
    feedback_type: oneOf(["user", "judge"]),
    created_at: new Date(BEGIN_MS + 30 * HOUR_MS + places[at]! * 1000).toISOString(),
    payload: oneOf<object>([
      { score: below(9) / 8 },
      { score: oneOf([true, false, "fine"]) },
      { label: "good" },
    ]),
  }));
  const again = feedback
    .filter(() => chance(0.2))
    .map((one) => ({ ...one, payload: { score: below(9) / 8 } }));
  return [...feedback, ...again];
}

function idOf(number: number): string {
  return `019f0000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
}

const jobs = Array.from({ length: 12 }, (_, at): Job => ({
  project_id,
  id: `job-${at}`,
  kind: oneOf(["rl", "sft"]),
  status: oneOf(["completed", "failed"]),
  error: oneOf([null, "CUDA out of memory"]),
  forgotten: oneOf([0, 1]),
  base_model: oneOf(["base/forest", "base/tree"]),
  output_model: `${project_id}/agent`,
  model_id: "model-1",
  sha256: below(2 ** 40).toString(16),
  bytes: below(1e9),
  lines: oneOf([null, at]),
  api_key: "root",
  svc_user_id: null,
  request: JSON.stringify({ experimental_config: { learning_rate: random.next() } }),
  export_id: null,
  is_sent: 1,
  metrics: JSON.stringify({ loss: random.next() }),
  checkpoints: JSON.stringify([{ id: `k${at}`, step: at, llm: null }]),
  stated_cost: oneOf([null, random.next()]),
  course: "{}",
  // some at one time
  created_at_us: (BEGIN_MS + (at >> 1)) * 1000,
  ended_at_us: (BEGIN_MS + HOUR_MS) * 1000,
  checked_at_ms: BEGIN_MS + HOUR_MS,
  checked_by: "",
  removed: 0,
  version: at + 1,
}));

const EXPORTS: readonly object[] = ["chat", "preference", "trajectories"].flatMap((format) => [
  { format, feedback: score },
  { format, feedback: { ...score, feedback_type: "judge" }, dedupe: true },
  { format, feedback: { ...score, op: "$lt" }, holdout: 0.3, seed: 4 },
  ...["roots", "leaves", "last_of_thread"].map((only) => ({ format, feedback: score, only })),
  {
    format,
    feedback: score,
    query: { $expr: { $eq: [{ $getField: "op_name" }, { $literal: "answer" }] } },
    ...(format !== "preference" && { limit: 5 }),
  },
]);

describe.skipIf(shards < 2 || replicaCount > shards)(`${shards} shards, on ${clusterName}`, () => {
  let cluster: TestCluster;
  let engines: readonly Engine[] = [];
  let single: TestApp;
  let first: TestApp;
  let second: TestApp;
  const apps = (): readonly TestApp[] => [single, first, second];

  /** Sends one request to the single store and to one of the services on the shards. */
  const write = async (path: string, body: object): Promise<void> => {
    const sent = await Promise.all([single, oneOf([first, second])].map((app) => app.post(path, body)));
    expect(
      sent.map(({ status }) => status),
      sent[1]!.text,
    ).toEqual([200, 200]);
  };

  /** Returns the response of all three, which is the same, byte for byte. */
  const ask = async (path: string, body: object): Promise<TestResponse> => {
    const [one, ...others] = await Promise.all(apps().map((app) => app.post(path, { project_id, ...body })));
    const name = `${path} ${JSON.stringify(body)}`;
    expect(one!.status, `${name} ${one!.text}`).toBe(200);
    for (const other of others) expect([other.status, other.text], name).toEqual([200, one!.text]);
    return one!;
  };

  beforeAll(async () => {
    cluster = await openCluster();
    engines = [
      [1, 2],
      [2, 1],
    ].map((order) => connectServer(cluster.url(...order).split(","), { cluster: testCluster }));
    await migrate(engines[0]!, { cluster: testCluster });
    single = await startApp();
    const settings = cluster.settings();
    [first, second] = (await Promise.all(engines.map((engine) => startAppOn(engine, { settings })))) as [
      TestApp,
      TestApp,
    ];

    const calls = drawCalls();
    for (let at = 0; at < CALLS; at += 20)
      await write(`/v2/${project_id}/calls/complete`, { batch: calls.slice(at, at + 20) });
    const feedback = drawFeedback(calls);
    for (let at = 0; at < feedback.length; at += 80)
      await write("/feedback/batch/create", { batch: feedback.slice(at, at + 80) });
    const purged = feedback.filter(() => chance(0.1)).map(({ id }) => ({ $literal: id }));
    await write("/feedback/purge", { project_id, query: { $expr: { $in: [{ $getField: "id" }, purged] } } });
    await write("/calls/delete", { project_id, call_ids: ["c3", "c50"] });
    for (const { engine } of apps()) {
      const store = createJobStore(engine, { lingerMs: 0, pending: new FairSemaphore({ capacity: 1e9 }) });
      await store.write(jobs);
    }
  });
  afterAll(async () => {
    for (const app of apps()) await app?.close();
    for (const engine of engines) await engine.close();
    await cluster?.close();
  });

  it("export the bytes that one store exports, with the same counts, lines and reasons", async () => {
    let lines = 0;
    for (const question of [{ format: "chat" }, ...EXPORTS]) {
      const name = JSON.stringify(question);
      const exported = await Promise.all(
        apps().map((app) => app.post("/dataset/export", { project_id, ...question })),
      );
      const [one, ...others] = exported;
      expect(one!.status, `${name} ${one!.text}`).toBe(200);
      for (const other of others) expect(other.text, name).toBe(one!.text);
      lines += one!.text.split("\n").length - 1;
      const told = await Promise.all(
        exported.map(async ({ headers }, at) => {
          const export_id = headers["x-sumtree-export-id"];
          const answer = await apps()[at]!.post("/dataset/query", { project_id, export_id, limit: 1000 });
          const { exports, calls } = answer.json();
          const { id, created_at, ...manifest } = exports[0];
          expect([id, typeof created_at], name).toEqual([export_id, "string"]);
          return { manifest, calls };
        }),
      );
      expect(told[0]!.calls.length, name).toBeGreaterThan(0);
      for (const other of told.slice(1)) expect(other, name).toEqual(told[0]);
    }
    expect(lines).toBeGreaterThan(300);
  });

  it("list each export by any service, with its calls", async () => {
    const pagesOf = async (app: TestApp): Promise<unknown[]> => {
      const pages: unknown[] = [];
      for (let page_token: string | null = null; ;) {
        const page = (await app.post("/dataset/query", { project_id, limit: 9, page_token })).json();
        pages.push(page.exports);
        page_token = page.next_page_token;
        if (page_token === null) return pages;
      }
    };
    const [one, two] = [await pagesOf(first), await pagesOf(second)];
    expect(two).toEqual(one);
    const ids = (one.flat() as { id: string }[]).map(({ id }) => id);
    expect(ids).toHaveLength(2 * (1 + EXPORTS.length));
    expect(new Set(ids).size).toBe(ids.length);
    for (const export_id of ids.slice(0, 5)) {
      const body = { project_id, export_id, limit: 1000 };
      expect((await second.post("/dataset/query", body)).text).toBe(
        (await first.post("/dataset/query", body)).text,
      );
    }
  });

  it("know the outcomes and feedback that one store knows", async () => {
    const window = { start: "2026-05-01T00:00:00Z", end: "2026-05-03T00:00:00Z" };
    const tenant = { $getField: "attributes.tenant" };
    let rated = 0;
    const questions = [[], ["llm"], ["op_name", "thread_id"], [tenant, "llm"]]
      .map((group_by) => ({ of: "calls", group_by }))
      .concat([[], ["op_name", "thread_id"], [tenant]].map((group_by) => ({ of: "traces", group_by })));
    const askAll = async (): Promise<void> => {
      for (const question of questions) {
        const body = { ...window, ...question, outcome: score, include_costs: true, granularity: 21_600 };
        rated += (await ask("/usage/stats", body)).json().total.rated;
      }
    };
    await askAll();
    const materialized = await Promise.all([single, first].map(({ engine }) => materializeAll(engine)));
    expect(materialized[0]).toBeGreaterThan(10);
    expect(materialized[1]).toBe(materialized[0]);
    await askAll();
    expect(rated).toBeGreaterThan(100);
    const metrics = [{ json_path: "score", value_type: "numeric" }];
    for (const group_by of [["llm"], ["op_name", "thread_id"]])
      await ask("/feedback/stats", { ...window, metrics, group_by });
  });

  it("list the training jobs that one store lists, in its order and pages", async () => {
    for (const body of [{}, { kind: "rl" }, { status: "failed" }, { base_model: "base/tree" }, { limit: 5 }])
      await ask("/training/jobs/query", body);
    const seen: string[] = [];
    for (let page_token: string | null = null; ;) {
      const page = (await ask("/training/jobs/query", { limit: 5, page_token })).json();
      seen.push(...page.jobs.map(({ id }: { id: string }) => id));
      page_token = page.next_page_token;
      if (page_token === null) break;
    }
    expect(seen.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  });
});
