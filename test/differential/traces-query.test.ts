import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forest } from "../models/forests.ts";
import { costOf, expectedTraces, totalOf, type ExpectedTrace } from "../models/trace-list.ts";
import { type Ask, messagesOf, step, take } from "../models/usage-history.ts";
import { picodollars, type Total } from "../models/usage-totals.ts";
import { isLong, runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

/** Histories of a project, each of several steps. */
const RUNS = runs(1, 30);
/** Lists requested after each step. */
const QUESTIONS = isLong ? 3 : 1;
/** Sizes of pages, in turn. */
const LIMITS = isLong ? [[1], [7], [500], [2, 3]] : [[500]];
const seed = chosenSeed();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const ask: Ask = (url, body) => test.post(url, body);

type Trace = Total & {
  readonly trace_id: never;
  readonly root: { readonly id: string; readonly op_name: string; readonly started_at: string } | null;
  readonly models: readonly string[];
};
interface Listed {
  readonly traces: readonly Trace[];
  readonly total: Total;
  readonly next_page_token: string | null;
}

const ORDERS = [
  "started_at",
  "total_cost",
  "total_tokens",
  "latency",
  "calls",
  "failed",
  "wasted_cost",
] as const;
const LIMITED = ["total_cost", "wasted_cost", "total_tokens", "calls", "failed", "latency_ms"] as const;
const OPERATORS = ["gt", "gte", "lt", "lte"] as const;
const HOUR = 3_600_000;

function meets(value: number | null, by: (typeof OPERATORS)[number], limit: number): boolean {
  if (value === null) return false;
  return { gt: value > limit, gte: value >= limit, lt: value < limit, lte: value <= limit }[by];
}

/** Messages of a trace at another time, now and then without a root. */
function shifted(rows: Parameters<typeof messagesOf>[0], number: number) {
  const later = (at: string | null, hours: number) =>
    at === null ? null : new Date(Date.parse(at) + hours * HOUR).toISOString();
  // too long for the usage rollup
  const hoursOf = (id: string): number => number * 5 + (number % 4 === 3 && !id.endsWith("-top") ? 60 : 0);
  return messagesOf(rows, `t${number}`)
    .filter(({ id }) => number % 3 !== 1 || !id.endsWith("-top"))
    .map(({ parent_id, ...message }) => ({
      ...message,
      // a root may state that it has no parent, or nothing
      ...((parent_id !== null || number % 2 === 1) && { parent_id }),
      started_at: later(message.started_at, hoursOf(message.id))!,
      ended_at: later(message.ended_at, hoursOf(message.id)),
    }));
}

async function pages(body: object, limits: readonly number[]): Promise<readonly Listed[]> {
  const found: Listed[] = [];
  let page_token: string | null = null;
  do {
    const limit = limits[found.length % limits.length]!;
    const answer = await ask("/traces/query", { ...body, limit, page_token });
    expect(answer.status, answer.text).toBe(200);
    const page = answer.json() as Listed;
    expect(page.traces.length).toBeLessThanOrEqual(limit);
    found.push(page);
    page_token = page.next_page_token;
  } while (page_token !== null);
  return found;
}

function valueOf(trace: ExpectedTrace, order: (typeof ORDERS)[number]): number | null {
  if (order === "started_at") return trace.startedMs;
  return order === "latency" ? trace.latency_ms : trace[order];
}

function sorted(traces: readonly ExpectedTrace[], order: (typeof ORDERS)[number], direction: string) {
  return traces.toSorted((one, other) => {
    const [a, b] = [valueOf(one, order), valueOf(other, order)];
    if (a === null || b === null) {
      const unknown = Number(a === null) - Number(b === null);
      return unknown === 0 ? compareIds(one, other) : unknown;
    }
    return (direction === "asc" ? a - b : b - a) || compareIds(one, other);
  });
}

function compareIds(one: ExpectedTrace, other: ExpectedTrace): number {
  return one.trace_id < other.trace_id ? -1 : 1;
}

const question = fc.record({
  order_by: fc.constantFrom(...ORDERS),
  direction: fc.constantFrom("asc", "desc"),
  limits: fc.constantFrom(...LIMITS),
  fromHour: fc.constantFrom(0, 0, 0, 21, 26),
  toHour: fc.constantFrom(96, 96, 32),
  ofRoot: fc.constantFrom(undefined, undefined, "top", "op-1"),
  limit: fc.constantFrom(undefined, ...LIMITED.flatMap((name) => OPERATORS.map((by) => ({ name, by })))),
  limitAt: fc.nat(20),
});

type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

async function expectList(
  project_id: string,
  all: readonly ExpectedTrace[],
  { order_by, direction, limits, fromHour, toHour, ofRoot, limit, limitAt }: Question,
): Promise<void> {
  const [startMs, endMs] = [Date.UTC(2026, 2, 28) + fromHour * HOUR, Date.UTC(2026, 2, 28) + toHour * HOUR];
  const inWindow = all.filter(({ startedMs }) => startedMs >= startMs && startedMs < endMs);
  // at the value of a trace, where operators differ
  const at = limit === undefined ? null : (all[limitAt % Math.max(all.length, 1)]?.[limit.name] ?? null);
  const isWithin = (trace: ExpectedTrace): boolean =>
    limit === undefined || at === null || meets(trace[limit.name], limit.by, at);
  const ofAnyRoot = inWindow.filter(isWithin);
  const expected = sorted(
    ofAnyRoot.filter(({ op_name }) => ofRoot === undefined || op_name === ofRoot),
    order_by,
    direction,
  );
  const body = {
    project_id,
    start: new Date(startMs).toISOString(),
    end: new Date(endMs).toISOString(),
    order_by,
    direction,
    ...(ofRoot !== undefined && { filter: { op_names: [ofRoot] } }),
    ...(limit !== undefined &&
      at !== null && {
        totals: { [limit.name]: { [limit.by]: limit.name.endsWith("_cost") ? at / 1e12 : at } },
      }),
  };
  const { order_by: _order, direction: _direction, ...selection } = body;
  await expectFacets(selection, ofAnyRoot, expected);
  const found = await pages(body, limits);
  const traces = found.flatMap((page) => page.traces);
  expect(
    traces.map(({ root, models, feedback: _feedback, ...trace }) => ({
      ...picodollars(trace),
      trace_id: trace.trace_id,
      root: root?.id ?? null,
      op_name: root?.op_name ?? null,
      partial: trace["partial"],
      models,
    })),
  ).toEqual(expected.map(({ startedMs: _startedMs, ...trace }) => trace));
  const wasted = expected.reduce((sum, { wasted_cost }) => sum + (wasted_cost ?? 0), 0);
  for (const { total } of found) {
    expect({ ...picodollars(total), partial: total["partial"] }).toEqual({
      ...totalOf(expected),
      wasted_cost: total["wasted_cost"] === null ? null : wasted,
    });
  }
}

/** Counts by the root's operation ignore the condition on it; those by LLM do not. */
async function expectFacets(body: object, all: readonly ExpectedTrace[], selected: readonly ExpectedTrace[]) {
  const answer = await ask("/traces/facets", { ...body, fields: ["op_name", "llm"], limit: 100 });
  expect(answer.status, answer.text).toBe(200);
  const { facets } = answer.json() as {
    facets: readonly {
      readonly values: readonly (Total & { readonly value: never })[];
      readonly other: number;
    }[];
  };
  const byOp = countsBy(all, ({ op_name }) => [op_name]);
  const byLlm = countsBy(selected, ({ models }) => (models.length === 0 ? [null] : models));
  for (const [place, expected] of [byOp, byLlm].entries()) {
    const { values, other } = facets[place]!;
    expect(other).toBe(0);
    const found = values.map(({ value, traces, total_cost, partial }) => {
      const count = picodollars({ traces: traces!, total_cost: total_cost! });
      return [value, { ...count, partial }] as const;
    });
    expect(new Map(found)).toEqual(expected);
    const counts = values.map(({ traces }) => traces!);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  }
}

function countsBy(
  traces: readonly ExpectedTrace[],
  valuesOf: (trace: ExpectedTrace) => readonly (string | null)[],
): ReadonlyMap<string | null, object> {
  const pairs = traces.flatMap((trace) => valuesOf(trace).map((value) => ({ value, trace })));
  return new Map(
    [...Map.groupBy(pairs, ({ value }) => value)].map(([value, some]) => {
      const total = totalOf(some.map(({ trace }) => trace));
      return [value, { traces: total.traces, total_cost: total.total_cost, partial: total.partial }];
    }),
  );
}

/** The figures of traces that lie in the window as a whole are those of `/usage/stats`, of roots, and of receipts. */
async function expectSameAsOthers(project_id: string): Promise<void> {
  const window = { start: "2026-03-01T00:00:00Z", end: "2026-05-01T00:00:00Z" };
  const [list] = await pages({ project_id, ...window }, [500]);
  await expectSameAsStats(list!, { project_id, ...window });
  await expectSameAsRoots(list!, project_id);
  const rooted = list!.traces.filter(({ root }) => root !== null);
  for (const trace of isLong ? rooted : rooted.slice(0, 1)) await expectSameAsReceipt(trace, project_id);
}

const figuresOf = (one: Total, names: readonly string[]) =>
  names.map((name) => picodollars({ [name]: one[name]! })[name]);

async function expectSameAsStats({ traces, total }: Listed, window: object): Promise<void> {
  const answer = await ask("/usage/stats", { ...window, group_by: ["trace_id"], include_costs: true });
  const stats = answer.json() as {
    total: Total;
    groups: readonly { readonly key: { readonly trace_id: string }; readonly total: Total }[];
  };
  const same = ["calls", "total_tokens", "total_cost"];
  expect(figuresOf(total, same)).toEqual(figuresOf(stats.total, same));
  expect(total["failed"]).toBe(stats.total["errors"]);
  const byTrace = new Map(stats.groups.map((group) => [group.key.trace_id, group.total]));
  for (const trace of traces)
    expect(figuresOf(trace, same)).toEqual(figuresOf(byTrace.get(trace.trace_id)!, same));
}

/** A root's usage is that of its trace: the sum of `/trace/usage`, `other_cost` included, over LLMs. */
async function expectSameAsRoots({ traces, total }: Listed, project_id: string): Promise<void> {
  const filter = { trace_roots_only: true };
  const costs = { include_costs: true, full_costs: true };
  const answer = await ask("/trace/usage", { project_id, filter, ...costs });
  expect(answer.status, answer.text).toBe(200);
  const usage = answer.json().call_usage as Record<string, Record<string, Total>>;
  const listed = (one: Total) => ({
    total_tokens: one["total_tokens"]!,
    total_cost: picodollars(one)["total_cost"]!,
    partial: Boolean(one["partial"]),
  });
  const expected = traces.map((trace) => {
    // a trace without a root has no line there
    if (trace.root === null) return listed(trace);
    const entries = Object.entries(usage[trace.root.id] ?? {});
    return {
      total_tokens: entries.reduce((sum, [, entry]) => sum + entry["total_tokens"]!, 0),
      total_cost: costOf(entries),
      partial: entries.some(([, entry]) => Boolean(entry["partial"])),
    };
  });
  expect(traces.map(listed)).toEqual(expected);
  const { total_cost: totalCost, ...counted } = listed(total);
  expect({ ...counted, total_cost: totalCost ?? 0 }).toEqual({
    total_tokens: expected.reduce((sum, { total_tokens }) => sum + total_tokens, 0),
    total_cost: expected.reduce((sum, { total_cost }) => sum + (total_cost ?? 0), 0),
    partial: expected.some(({ partial }) => partial),
  });
}

/** The lines of a root's receipt add up to the cost of its trace. */
async function expectSameAsReceipt(trace: Trace, project_id: string): Promise<void> {
  const { trace_id, root } = trace;
  const answer = await ask("/call/receipt", { project_id, call_id: root!.id, trace_id });
  expect(answer.status, answer.text).toBe(200);
  const receipt = answer.json() as {
    readonly lines: readonly Total[];
    readonly unpriced: readonly unknown[];
    readonly total: Total;
  };
  const cost = picodollars(trace)["total_cost"];
  expect(picodollars(receipt.total)["total_cost"]).toBe(cost);
  const lines = receipt.lines.map((line) => Math.round((line["amount_usd"] ?? 0) * 1e12));
  expect(lines.reduce((sum, amount) => sum + amount, 0)).toBe(cost ?? 0);
  expect(receipt.unpriced.length > 0).toBe(trace["partial"]);
}

describe("POST /traces/query", () => {
  it("lists what an oracle computes from the calls, after every step, in any order and pages", async () => {
    let projects = 0;
    let materialized = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(forest({ maxCalls: 10, inclusive: true, cycles: false, shared: true }), {
          minLength: 2,
          maxLength: 6,
        }),
        fc.array(
          fc.tuple(step, fc.array(question, { minLength: QUESTIONS, maxLength: QUESTIONS }), fc.boolean()),
          {
            minLength: 2,
            maxLength: isLong ? 4 : 2,
          },
        ),
        async (forests, steps) => {
          const project = `acme/list-${projects++}`;
          const batch = forests.flatMap(shifted);
          const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
          expect(stored.json()).toEqual({ rejected: [] });
          // a short history begins in the rollup, and ends in it
          if (!isLong) materialized += await materializeAll(test.engine);
          const ids = batch.map(({ id }) => id).filter((id) => !id.endsWith("-top"));
          for (const [number, [one, questions, materializes]] of steps.entries()) {
            if (ids.length > 0) await take(ask, one, { project, ids, number });
            const isLast = number === steps.length - 1;
            if (materializes || isLast) materialized += await materializeAll(test.engine);
            const expected = await expectedTraces(ask, project);
            for (const asked of questions) await expectList(project, expected, asked);
            if (isLong || isLast) await expectSameAsOthers(project);
          }
        },
      ),
      { numRuns: RUNS, seed, endOnFailure: true },
    );
    expect(materialized).toBeGreaterThan(0);
  });
});
