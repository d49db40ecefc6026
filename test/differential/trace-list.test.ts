import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadPriceList } from "../../src/prices/list/load-price-list.ts";
import { createPrices } from "../../src/prices/prices.ts";
import { createPriceStore } from "../../src/prices/project/price-store.ts";
import { defaultSelectionLimits } from "../../src/query/index.ts";
import { hoursOfWindow } from "../../src/trace-usage/plan.ts";
import { LlmDictionary } from "../../src/trace-usage/table/llm-dictionary.ts";
import type { Project } from "../../src/shared/project.ts";
import { totalText } from "../../src/traces/response/totals.ts";
import { planTraces } from "../../src/traces/plan/plan-traces.ts";
import { findAllTraces } from "../../src/traces/read/find-traces.ts";
import { sumTraces } from "../../src/traces/read/sum-traces.ts";
import { forest } from "../models/forests.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { type Ask, messagesOf, step, take, WINDOW } from "../models/usage-history.ts";
import { addTotals, picodollars, type Total } from "../models/usage-totals.ts";

/** Histories of a project, each of several steps. */
const RUNS = runs(2, 20);
const seed = chosenSeed();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const ask: Ask = (url, body) => test.post(url, body);

interface Row {
  readonly trace_id: string;
  readonly call_id: string;
  readonly started_at: string;
  readonly latency_ms: number | null;
  readonly unpriced: readonly { readonly llm: string }[];
  readonly total: Total;
  readonly failed: Total;
}

interface Groups {
  readonly values: readonly { readonly total: Total }[];
  readonly other: { readonly total: Total } | null;
}

interface Group {
  readonly key: { readonly trace_id: string };
  readonly total: Total;
}

async function answerOf<Answer>(url: string, body: object): Promise<Answer> {
  const response = await ask(url, body);
  expect(response.status, response.text).toBe(200);
  return response.json() as Answer;
}

/** Reads each trace's usage from `/usage/stats`. */
async function byTrace(project_id: string, more: object = {}) {
  const body = { project_id, ...WINDOW, group_by: ["trace_id"], ...more };
  const { groups, total } = await answerOf<{ groups: Group[]; total: Total }>("/usage/stats", body);
  return { total, of: new Map(groups.map((group) => [group.key.trace_id, group.total])) };
}

const failedCalls = { $expr: { $not: [{ $eq: [{ $getField: "exception" }, { $literal: null }] }] } };

async function expectList(project_id: string, asked: { order_by: string; direction: string }): Promise<void> {
  const list = await answerOf<{
    traces: Row[];
    total: { traces: number; total: Total; groups: Groups };
  }>("/trace/query", { project_id, ...WINDOW, ...asked, group_by: "trace_name", limit: 500 });
  const [all, failed] = [await byTrace(project_id), await byTrace(project_id, { query: failedCalls })];
  expect(list.traces.map(({ trace_id }) => trace_id).sort()).toEqual([...all.of.keys()].sort());
  expect(picodollars(list.total.total)).toEqual(picodollars(all.total));
  expect(list.total.traces).toBe(list.traces.length);
  expect(
    addTotals(
      list.traces.map(({ total }) => total),
      all.total,
    ),
  ).toEqual(picodollars(all.total));
  const { values, other } = list.total.groups;
  expect(
    addTotals(
      [...values, ...(other === null ? [] : [other])].map(({ total }) => total),
      all.total,
    ),
  ).toEqual(picodollars(all.total));
  for (const row of list.traces) {
    expect(picodollars(row.total)).toEqual(picodollars(all.of.get(row.trace_id)!));
    const ofFailed = failed.of.get(row.trace_id);
    if (ofFailed === undefined) expect(row.failed["calls"]).toBe(0);
    else expect(picodollars(row.failed)).toEqual(picodollars(ofFailed));
    const receipt = await answerOf<{ total: Total; unpriced: { llm: string }[] }>("/call/receipt", {
      project_id,
      call_id: row.call_id,
      trace_id: row.trace_id,
    });
    expect(picodollars({ cost: row.total["total_cost"]! })).toEqual(
      picodollars({ cost: receipt.total["total_cost"]! }),
    );
    const llms = (of: readonly { readonly llm: string }[]): string[] =>
      [...new Set(of.map(({ llm }) => llm))].sort();
    expect(llms(row.unpriced)).toEqual(llms(receipt.unpriced));
  }
  const ranks = list.traces.map((row) => valueOf(row, asked.order_by));
  const known = ranks.filter((value) => value !== null);
  expect(ranks.slice(0, known.length)).toEqual(known);
  const sign = asked.direction === "asc" ? 1 : -1;
  expect(known).toEqual(known.toSorted((one, other) => sign * (one - other)));
}

function valueOf(row: Row, order: string): number | null {
  if (order === "started_at") return Date.parse(row.started_at);
  return order === "latency_ms" ? row.latency_ms : row.total[order]!;
}

/** The rollup plus the calls that it does not cover equals the calls alone. */
async function expectRollup(project_id: string): Promise<void> {
  const project = project_id as Project;
  const prices = createPrices(createPriceStore(test.engine), {
    list: await loadPriceList(undefined),
    onUnknown: () => undefined,
  });
  const settings = { selectionLimits: defaultSelectionLimits, nowMs: Date.now() };
  const [start, end] = [Date.parse(WINDOW.start) * 1000, Date.parse(WINDOW.end) * 1000];
  const plan = planTraces(project, { start, end }, settings);
  const { signal } = new AbortController();
  const traces = await findAllTraces(test.engine, plan, { window: plan.window, most: 1000, signal });
  const textsOf = async (foldedAtOnce: number): Promise<string[]> => {
    const { sums } = await sumTraces(test.engine, traces, {
      project,
      hours: hoursOfWindow(plan.window),
      names: new LlmDictionary(),
      book: await prices.bookFor(project),
      providerOf: (llm, servedBy) => prices.providerOf(llm, servedBy),
      withDetails: false,
      foldedAtOnce,
      maxCalls: 10_000,
      signal,
    });
    return traces.map((_trace, row) => totalText(sums, row, true));
  };
  expect(await textsOf(-1)).toEqual(await textsOf(10_000));
}

const question = fc.record({
  order_by: fc.constantFrom("started_at", "total_cost", "total_tokens", "latency_ms", "calls", "errors"),
  direction: fc.constantFrom("asc", "desc"),
});

describe("POST /trace/query", () => {
  it(
    "returns the totals of /usage/stats and of receipts after every step, in order",
    { timeout: 600_000 },
    async () => {
      let projects = 0;
      let materialized = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(forest({ maxCalls: 12, inclusive: true, cycles: false, shared: true }), {
            minLength: 2,
            maxLength: 4,
          }),
          fc.array(fc.tuple(step, question, fc.boolean()), { minLength: 2, maxLength: 3 }),
          async (forests, steps) => {
            const project = `acme/list-${projects++}`;
            const batch = forests.flatMap((rows, number) => messagesOf(rows, `t${number}`));
            const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
            expect(stored.json()).toEqual({ rejected: [] });
            const ids = batch.map(({ id }) => id).filter((id) => !id.endsWith("-top"));
            for (const [number, [one, asked, materializes]] of steps.entries()) {
              if (ids.length > 0) await take(ask, one, { project, ids, number });
              if (materializes) materialized += await materializeAll(test.engine);
              await expectRollup(project);
              await expectList(project, asked);
            }
          },
        ),
        { numRuns: RUNS, seed, endOnFailure: true },
      );
      if (RUNS >= 20) expect(materialized).toBeGreaterThan(0);
    },
  );
});
