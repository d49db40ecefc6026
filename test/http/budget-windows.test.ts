import { afterAll, beforeAll, expect, it } from "vitest";
import { budgetsOf, setBudget } from "../helpers/budgeted.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const NOW = "2026-03-18T10:40:00Z";
const PROJECT = "acme/windows";

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => Date.parse(NOW) } } });
});
afterAll(() => test.close());

/** Calls at both sides of the bounds of windows, each with a power of two as its tokens. */
const STARTED = [
  "2025-12-31T23:59:59.999Z",
  "2026-02-28T22:59:59.999Z",
  "2026-02-28T23:00:00Z",
  "2026-03-15T23:59:59.999Z",
  "2026-03-16T00:00:00Z",
  "2026-03-17T18:29:59.999Z",
  "2026-03-17T18:30:00Z",
  "2026-03-18T09:59:59.999Z",
  "2026-03-18T10:00:00Z",
  "2026-03-18T10:59:59.999Z",
  "2026-03-18T11:00:00Z",
];

/** First and last call of each window. */
const WINDOWS = [
  { of: { window: "hour" }, calls: [8, 9] },
  { of: { window: "day", timezone: "Asia/Kolkata" }, calls: [6, 10] },
  { of: { window: "month", timezone: "Europe/Berlin" }, calls: [2, 10] },
  { of: { window: null }, calls: [0, 10] },
  { of: { window: "week" }, calls: [4, 10] },
] as const;

it("sums that are read together have the calls of their own windows", async () => {
  const calls = STARTED.map((started_at, at) => ({
    start: {
      project_id: PROJECT,
      id: `call-${at}`,
      trace_id: `trace-${at}`,
      op_name: "op",
      thread_id: "thread",
      started_at,
      inputs: {},
      attributes: {},
    },
    end: {
      project_id: PROJECT,
      id: `call-${at}`,
      ended_at: "2026-03-18T12:00:00Z",
      summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 2 ** at } } },
    },
  }));
  const batch = calls.flatMap(({ start, end }) => [
    { mode: "start", req: { start } },
    { mode: "end", req: { end } },
  ]);
  expect((await test.post("/call/upsert_batch", { batch })).status).toBe(200);
  const scopes = [{ scope: "project" }, { scope: "thread_id", match: "thread" }, { scope: "thread_id" }];
  const expected = new Map<string, number>();
  for (const scope of scopes)
    for (const { of, calls: within } of WINDOWS) {
      const id = await setBudget(test, PROJECT, { ...scope, ...of, limit: { tokens: 1e6 } });
      expected.set(id, 2 ** (within[1] + 1) - 2 ** within[0]);
    }
  const spent = (await budgetsOf(test, PROJECT)).map((budget) => [budget.id, budget.spent.tokens] as const);
  expect(new Map(spent)).toEqual(expected);
});
