import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forest } from "../models/forests.ts";
import { expectedTraces, totalOf, type ExpectedTrace } from "../models/trace-list.ts";
import { type Ask, messagesOf, step, take } from "../models/usage-history.ts";
import { picodollars, type Total } from "../models/usage-totals.ts";
import { isLong, runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

/** Histories of a project, each of several steps. */
const RUNS = runs(3, 40);
/** Lists requested after each step. */
const QUESTIONS = isLong ? 3 : 1;
const seed = chosenSeed();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const ask: Ask = (url, body) => test.post(url, body);

interface Trace extends Total {
  readonly trace_id: never;
}
interface Listed {
  readonly traces: readonly (Trace & {
    readonly root: { readonly id: string; readonly op_name: string; readonly started_at: string } | null;
    readonly models: readonly string[];
  })[];
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
const HOUR = 3_600_000;

/** Messages of a trace at another time, now and then without a root. */
function shifted(rows: Parameters<typeof messagesOf>[0], number: number) {
  const later = (at: string | null, hours: number) =>
    at === null ? null : new Date(Date.parse(at) + hours * HOUR).toISOString();
  // too long for the usage rollup
  const hoursOf = (id: string): number => number * 5 + (number % 4 === 3 && !id.endsWith("-top") ? 60 : 0);
  return messagesOf(rows, `t${number}`)
    .filter(({ id }) => number % 3 !== 1 || !id.endsWith("-top"))
    .map((message) => ({
      ...message,
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
  limits: fc.constantFrom([1], [7], [500], [2, 3]),
  fromHour: fc.constantFrom(0, 0, 0, 21, 26),
  toHour: fc.constantFrom(96, 96, 32),
  ofRoot: fc.constantFrom(undefined, undefined, "top", "op-1"),
});

async function expectList(
  project_id: string,
  {
    order_by,
    direction,
    limits,
    fromHour,
    toHour,
    ofRoot,
  }: typeof question extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  const [startMs, endMs] = [Date.UTC(2026, 2, 28) + fromHour * HOUR, Date.UTC(2026, 2, 28) + toHour * HOUR];
  const all = await expectedTraces(ask, project_id);
  const inWindow = all.filter(({ startedMs }) => startedMs >= startMs && startedMs < endMs);
  const expected = sorted(
    inWindow.filter(({ op_name }) => ofRoot === undefined || op_name === ofRoot),
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
  };
  const { order_by: _order, direction: _direction, ...selection } = body;
  await expectFacets(selection, inWindow, expected);
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

/** The totals of traces that lie in the window as a whole are those of `/usage/stats` and of receipts. */
async function expectSameAsOthers(project_id: string): Promise<void> {
  const window = { start: "2026-03-01T00:00:00Z", end: "2026-05-01T00:00:00Z" };
  const [list] = await pages({ project_id, ...window }, [500]);
  const stats = await ask("/usage/stats", {
    project_id,
    ...window,
    group_by: ["trace_id"],
    include_costs: true,
  });
  const { total, groups } = stats.json() as {
    total: Total;
    groups: readonly { readonly key: { readonly trace_id: string }; readonly total: Total }[];
  };
  const same = ["calls", "total_tokens", "total_cost"];
  const figures = (one: Total) => same.map((name) => picodollars({ [name]: one[name]! })[name]);
  expect(figures(list!.total)).toEqual(figures(total));
  expect(list!.total["failed"]).toBe(total["errors"]);
  const byTrace = new Map(groups.map((group) => [group.key.trace_id, group.total]));
  for (const trace of list!.traces) expect(figures(trace)).toEqual(figures(byTrace.get(trace.trace_id)!));
}

describe("POST /traces/query", () => {
  it(
    "lists what an oracle computes from the calls, after every step, in any order and pages",
    { timeout: 600_000 },
    async () => {
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
              maxLength: 4,
            },
          ),
          async (forests, steps) => {
            const project = `acme/list-${projects++}`;
            const batch = forests.flatMap(shifted);
            const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
            expect(stored.json()).toEqual({ rejected: [] });
            const ids = batch.map(({ id }) => id).filter((id) => !id.endsWith("-top"));
            for (const [number, [one, questions, materializes]] of steps.entries()) {
              if (ids.length > 0) await take(ask, one, { project, ids, number });
              if (materializes) materialized += await materializeAll(test.engine);
              for (const asked of questions) await expectList(project, asked);
              await expectSameAsOthers(project);
            }
          },
        ),
        { numRuns: RUNS, seed, endOnFailure: true },
      );
      expect(materialized).toBeGreaterThan(0);
    },
  );
});
