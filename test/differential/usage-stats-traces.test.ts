import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forest } from "../models/forests.ts";
import { isLong, runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { type Ask, expectSums, messagesOf, step, take } from "../models/usage-history.ts";
import { addTotals, picodollars, type Total } from "../models/usage-totals.ts";

/** Histories of a project, each of several steps. */
const RUNS = runs(1, 25);
const seed = chosenSeed();
const HOUR = 3_600_000;
const BEGIN = Date.UTC(2026, 2, 28);

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const ask: Ask = (url, body) => test.post(url, body);

/** Messages of a trace at another time, with fields on the root alone; of each third trace no root, of another two. */
function traceOf(rows: Parameters<typeof messagesOf>[0], number: number) {
  const at = (time: string, hours: number) => new Date(Date.parse(time) + hours * HOUR).toISOString();
  const [top, ...below] = messagesOf(rows, `t${number}`);
  const first = {
    ...top!,
    ended_at: number % 4 === 0 ? null : at(top!.started_at, number / 7),
    exception: number % 5 === 2 ? "boom" : null,
    attributes: { tenant: [null, "north", 7, true][number % 4] },
    wb_user_id: ["ann", "ben", null][number % 3 === 0 ? 2 : number % 2],
    thread_id: `thread-${number % 2}`,
  };
  const second = { ...first, id: `t${number}-second`, op_name: "second", wb_user_id: "eve" };
  const roots = [[first], [], [second, first]][number % 3]!;
  return [...roots, ...below].map((message) => {
    // a trace of several hours, and one that is too long for the usage rollup
    const hours = number * 5 + (message.id.endsWith("-c1") ? [0, 3, 0, 60][number % 4]! : 0);
    return {
      ...message,
      started_at: at(message.started_at, hours),
      ended_at: message.ended_at === null ? null : at(message.ended_at, hours),
    };
  });
}

/** Dimensions of the root, each with the condition that selects a value. */
const DIMENSIONS = [
  { by: "op_name", select: (value: unknown) => ({ filter: { op_names: [value] } }) },
  { by: "svc_user_id", select: (value: unknown) => ({ filter: { svc_user_ids: [value] } }) },
  { by: "thread_id", select: (value: unknown) => ({ filter: { thread_ids: [value] } }) },
  { by: "status", select: (value: unknown) => equals("summary.weave.status", value) },
  { by: { $getField: "attributes.tenant" }, select: (value: unknown) => equals("attributes.tenant", value) },
  { by: "trace_id", select: (value: unknown) => ({ filter: { trace_ids: [value] } }) },
] as const;
const FIELDS: Readonly<Record<string, string>> = { status: "summary.weave.status" };

function equals(field: string, value: unknown) {
  return { query: { $expr: { $eq: [{ $getField: field }, { $literal: value }] } } };
}

const question = fc.record({
  dimension: fc.constantFrom(...DIMENSIONS),
  also: fc.constantFrom(undefined, ...DIMENSIONS.map(({ by }) => by)),
  fromHour: fc.constantFrom(0, 21, 26.3),
  toHour: fc.constantFrom(96, 32.1),
  granularity: fc.constantFrom(3600, 5400, 86_400, undefined),
  timezone: fc.constantFrom("UTC", "Australia/Lord_Howe"),
  any_call: fc.constantFrom(undefined, undefined, { filter: { op_names: ["op-1"] } }),
  limit: fc.constantFrom(2, 100),
});
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

interface Listed {
  readonly traces: readonly (Total & {
    readonly trace_id: never;
    readonly root: { readonly exception: string | null } | null;
  })[];
  readonly total: Total;
}
interface Stats {
  readonly groups: readonly { readonly key: Readonly<Record<string, unknown>>; readonly total: Total }[];
  readonly unpriced: readonly object[];
  readonly total: Total;
}

async function answerOf<Answer>(url: string, body: object): Promise<Answer> {
  const answer = await ask(url, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json() as Answer;
}

/** Members that only totals of traces have. */
const OF_TRACES = ["traces", "traces_failed", "traces_with_failures", "wasted_cost", "cost_per_trace"];

function withoutOfTraces(total: Total): Total {
  return Object.fromEntries(Object.entries(total).filter(([name]) => !OF_TRACES.includes(name)));
}

const latencies = ({ latency_ms }: Total) => latency_ms as unknown as Total;

/** A total is the sum of the traces of a list, as the list and each trace's own calls tell. */
function expectTotal(total: Total, { traces }: Pick<Listed, "traces">, byTrace: ReadonlyMap<string, Total>) {
  const own = addTotals(
    traces.map(({ trace_id }) => byTrace.get(trace_id)!),
    byTrace.values().next().value,
  );
  expect(picodollars(withoutOfTraces(total))).toEqual(traces.length === 0 ? expect.anything() : own);
  const ended = traces.flatMap(({ latency_ms }) => latency_ms ?? []).toSorted((a, b) => a - b);
  expect([latencies(total)["count"], latencies(total)["sum"], latencies(total)["p100"]]).toEqual([
    ended.length,
    ended.reduce((sum, ms) => sum + ms, 0),
    ended.at(-1) ?? null,
  ]);
  expect(OF_TRACES.slice(0, 3).map((name) => total[name])).toEqual([
    traces.length,
    traces.filter(({ root }) => root !== null && root.exception !== null).length,
    traces.filter(({ failed }) => failed! > 0).length,
  ]);
  const [cost, wasted] = [total["total_cost"]!, total["wasted_cost"]];
  expect(total["cost_per_trace"]).toBe(cost === null || traces.length === 0 ? null : cost / traces.length);
  const known = traces.flatMap(({ wasted_cost }) => wasted_cost ?? []);
  if (wasted === null) expect(known.every((one) => one === 0)).toBe(true);
  else expect(Math.round(wasted! * 1e12)).toBe(Math.round(known.reduce((sum, one) => sum + one, 0) * 1e12));
}

/** A total has the figures of a list's total. */
function expectListed(total: Total, list: Total): void {
  const { traces, calls, total_tokens, total_cost, partial, wasted_cost } = list;
  const figures = { traces, calls, errors: list["failed"], total_tokens, total_cost, partial, wasted_cost };
  expect(total).toMatchObject(figures);
}

async function expectGroups(project_id: string, asked: Question): Promise<void> {
  const { dimension, also, fromHour, toHour, any_call, ...shape } = asked;
  const selection = {
    project_id,
    start: new Date(BEGIN + fromHour * HOUR).toISOString(),
    end: new Date(BEGIN + toHour * HOUR).toISOString(),
    ...(any_call !== undefined && { any_call }),
  };
  const costs = { include_costs: true, latency: { aggregations: ["count", "sum"], percentiles: [100] } };
  const ofTraces = { ...selection, ...costs, of: "traces" };
  const whole = { project_id, start: "2026-03-01", end: "2026-05-01", include_costs: true };
  const single = await answerOf<Stats>("/usage/stats", { ...whole, group_by: ["trace_id"], limit: 1000 });
  const byTrace = new Map(single.groups.map(({ key, total }) => [String(key["trace_id"]), total]));
  const list = await answerOf<Listed>("/traces/query", { ...selection, limit: 500 });

  const several = await ask("/usage/stats", {
    ...ofTraces,
    ...shape,
    group_by: [...new Set([dimension.by, also ?? dimension.by])],
  });
  expect(several.status, several.text).toBe(200);
  const stats = JSON.parse(several.text, (name, value: unknown) =>
    OF_TRACES.slice(3).includes(name) || name === "latency_ms" ? undefined : value,
  );
  expectSums(stats);
  expectTotal(several.json().total, list, byTrace);
  expectListed(several.json().total, list.total);

  const { groups } = await answerOf<Stats>("/usage/stats", { ...ofTraces, group_by: [dimension.by] });
  const label = typeof dimension.by === "string" ? dimension.by : dimension.by.$getField;
  let traces = 0;
  for (const { key, total } of groups) {
    const value = key[label];
    const condition = value === null ? equals(FIELDS[label] ?? label, null) : dimension.select(value);
    const found = await answerOf<Listed>("/traces/query", { ...selection, ...condition, limit: 500 });
    // no condition matches a trace without a root, whose key is null
    const rootless = value === null ? list.traces.filter(({ root }) => root === null) : [];
    if (rootless.length === 0) expectListed(total, found.total);
    expectTotal(total, { traces: [...found.traces, ...rootless] }, byTrace);
    traces += total["traces"]!;
  }
  expect(traces).toBe(list.traces.length);
}

describe("POST /usage/stats of traces", () => {
  it("sums in each group what /traces/query lists for its value, after every step", async () => {
    let projects = 0;
    let materialized = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(forest({ maxCalls: 8, inclusive: true, cycles: false, shared: true }), {
          minLength: 6,
          maxLength: 9,
        }),
        fc.array(fc.tuple(step, question, fc.boolean()), { minLength: 2, maxLength: isLong ? 5 : 2 }),
        async (forests, steps) => {
          const project = `acme/of-traces-${projects++}`;
          const batch = forests.flatMap(traceOf);
          const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
          expect(stored.json()).toEqual({ rejected: [] });
          const ids = batch.map(({ id }) => id);
          for (const [number, [one, asked, materializes]] of steps.entries()) {
            if (materializes || number === 0) materialized += await materializeAll(test.engine);
            await take(ask, one, { project, ids, number });
            await expectGroups(project, asked);
            // and entirely from the usage rollup
            if (number === steps.length - 1) materialized += await materializeAll(test.engine);
            if (number === steps.length - 1) await expectGroups(project, asked);
          }
        },
      ),
      { numRuns: RUNS, seed, endOnFailure: true },
    );
    expect(materialized).toBeGreaterThan(0);
  });
});
