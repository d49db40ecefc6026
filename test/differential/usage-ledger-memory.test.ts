import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { rebuildLedger } from "../../src/ledger/check-ledger.ts";
import { sql } from "../../src/query/sql.ts";
import { settleAll, withoutLedger } from "../helpers/settle.ts";
import { ROOT_KEY, startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";

let store: TestEngine;
let test: TestApp;
/** Remembers nothing and asks no ledger. */
let live: TestApp;
let other: TestApp;
/** The names of the statements of `test`. */
const read: string[] = [];
beforeAll(async () => {
  store = await startEngine();
  test = await startAppOn(store.engine, { wrapEngine: noting });
  other = await startAppOn(store.engine);
  live = await startAppOn(store.engine, {
    wrapEngine: (engine) => withoutLedger({ ...engine, changesOf: () => undefined }),
  });
});
afterAll(async () => {
  await test.close();
  await other.close();
  await live.close();
  await store.close();
});

function noting(engine: Engine): Engine {
  return {
    ...engine,
    rows: (query, options) => {
      read.push(options.name);
      return engine.rows(query, options);
    },
    bytes: (query, format, options) => {
      read.push(options.name);
      return engine.bytes(query, format, options);
    },
  };
}

const at = (hour: number, minute = 10): string => `2026-03-28T${hour}:${minute}:00Z`;
const usage = (prompt_tokens: number) => ({ usage: { "gpt-4o": { requests: 1, prompt_tokens } } });
const rest = { op_name: "o", inputs: {}, attributes: {}, output: null };

function call(id: string, hour: number, prompt_tokens: number) {
  const times = { started_at: at(hour), ended_at: at(hour, 11) };
  return { ...rest, ...times, id, trace_id: id.split("-")[0]!, summary: usage(prompt_tokens) };
}

async function send(project: string, ...batch: readonly object[]): Promise<void> {
  const answer = await other.post(`/v2/${project}/calls/complete`, { batch });
  expect(answer.json()).toEqual({ rejected: [] });
}

async function post(url: string, body: object): Promise<void> {
  const answer = await other.post(url, body);
  expect(answer.status, answer.text).toBe(200);
}

const question = (project_id: string) => ({
  project_id,
  start: "2026-03-28T20:00:00Z",
  end: "2026-03-28T23:00:00Z",
  granularity: 3600,
  group_by: ["llm"],
  include_costs: true,
});

/** The response as it is folded live. */
async function expected(project: string): Promise<string> {
  return (await live.post("/usage/stats", question(project))).text;
}

/** The response, and the statements that it takes. */
async function ask(
  project: string,
): Promise<{ readonly text: string; readonly statements: readonly string[] }> {
  read.length = 0;
  const answer = await test.post("/usage/stats", question(project));
  expect(answer.status, answer.text).toBe(200);
  return { text: answer.text, statements: [...read] };
}

/** Two hours of a project, a trace in both of them, settled, and asked for until all is remembered. */
async function remembered(project: string): Promise<string> {
  await send(project, call("a", 20, 100), call("b", 21, 200), call("s-1", 20, 7), call("s-2", 21, 70));
  await post("/call/start", {
    start: { ...rest, project_id: project, id: "open", trace_id: "open", started_at: at(21) },
  });
  await settleAll(store.engine);
  await ask(project);
  return (await ask(project)).text;
}

const { signal } = new AbortController();
const price = (project_id: string) => ({
  project_id,
  costs: { "gpt-4o": { effective_date: "2026-01-01", prompt_token_cost: 1, completion_token_cost: 1 } },
});

const changes: readonly [string, (project: string) => Promise<unknown>][] = [
  ["a late call", (project) => send(project, call("c", 20, 1000))],
  [
    "a late end",
    (project) =>
      post("/call/end", { end: { project_id: project, id: "open", ended_at: at(22), summary: usage(5) } }),
  ],
  [
    "late calls of several hours and projects in one message",
    async (project) => {
      const message = (project_id: string, { id, trace_id, started_at }: ReturnType<typeof call>) => ({
        mode: "start",
        req: { start: { ...rest, project_id, id, trace_id, started_at } },
      });
      const batch = [
        message("acme/another", call("z", 21, 5)),
        message(project, call("e", 22, 5)),
        message(project, call("f", 20, 5)),
      ];
      await post("/call/upsert_batch", { batch });
    },
  ],
  [
    "an end that came before its start",
    async (project) => {
      const end = { project_id: project, id: "g", ended_at: at(22), summary: usage(5) };
      await post("/call/end", { end });
      const start = { ...rest, project_id: project, id: "g", trace_id: "g", started_at: at(20) };
      await post("/call/start", { start });
    },
  ],
  ["the first call of an hour", (project) => send(project, call("d", 22, 1000))],
  [
    "a call by which a trace comes to lie under a second hour",
    (project) => send(project, call("a-2", 21, 1000)),
  ],
  ["a call by which one comes to lie under a third hour", (project) => send(project, call("s-3", 22, 1000))],
  ["a call far from the window", (project) => send(project, { ...call("a-3", 21, 9), started_at: at(12) })],
  ["a deleted call", (project) => post("/calls/delete", { project_id: project, call_ids: ["a"] })],
  ["a price", (project) => post("/cost/create", price(project))],
  [
    "the deletion of the project",
    async (project) => {
      const headers = { authorization: `Basic ${Buffer.from(`api:${ROOT_KEY}`).toString("base64")}` };
      const answer = await other.app.inject({ method: "DELETE", url: `/projects/${project}`, headers });
      expect(answer.statusCode, answer.payload).toBe(202);
    },
  ],
  [
    "calls that the store itself deletes",
    () =>
      store.engine.command(sql`ALTER TABLE calls DELETE WHERE id = 'b' SETTINGS mutations_sync = 0`, {
        name: "test",
      }),
  ],
  [
    "the loss of what the ledger has",
    () =>
      store.engine.command(sql`ALTER TABLE usage_hours DELETE WHERE 1 SETTINGS mutations_sync = 2`, {
        name: "test",
      }),
  ],
  ["a rebuild", () => rebuildLedger({ engine: store.engine, between: (work) => work(), signal })],
];

describe("what is remembered of a window", () => {
  it("is used, while calls come in under other hours and projects", async () => {
    const project = "acme/remembered";
    await send(project, call("early", 12, 5));
    await send("acme/another", call("x", 20, 5));
    const before = await remembered(project);
    await send(project, call("late", 12, 5));
    await send("acme/another", call("y", 20, 5));
    const { text, statements } = await ask(project);
    expect(text).toBe(before);
    expect(text).toBe(await expected(project));
    expect(statements).not.toContain("usage_count");
  });

  it("is the same in a window of years, whose hours are asked for each time", async () => {
    const project = "acme/years";
    await remembered(project);
    const years = {
      ...question(project),
      start: "2020-01-01T00:00:00Z",
      end: "2026-12-31T00:00:00Z",
      granularity: 86_400,
    };
    for (const id of ["one", "two"]) {
      const answer = await test.post("/usage/stats", years);
      expect(answer.text).toBe((await live.post("/usage/stats", years)).text);
      await send(project, call(id, 20, 100));
    }
  });

  it.each(changes)("is not used after %s", async (name, change) => {
    const project = `acme/after-${name.replaceAll(" ", "-")}`;
    const before = await remembered(project);
    expect(before).toBe(await expected(project));
    await change(project);
    const after = (await ask(project)).text;
    expect(after).toBe(await expected(project));
    if (!["a rebuild", "the loss of what the ledger has", "a call far from the window"].includes(name))
      expect(after).not.toBe(before);
    await settleAll(store.engine);
    const { text, statements } = await ask(project);
    expect(text).toBe(after);
    if (name !== "the deletion of the project") expect(statements).not.toContain("usage_count");
  });
});
