import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const RUNS = runs(1, 15);
const seed = chosenSeed();

let test: TestApp;
/** Histories by their projects. */
const stored = new Map<string, History>();
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => Date.parse("2026-03-12T00:00:00Z") } } });
  for (const about of fc.sample(history, { numRuns: RUNS, seed })) stored.set(await store(about), about);
});
afterAll(() => test.close());

/** Boundaries: an hour, a quarter hour, a second, a millisecond, and times in between. */
const BORDERS = [
  "10:00:00.000000",
  "10:15:00.000000",
  "10:20:01.000000",
  "10:20:01.001000",
  "10:20:01.001500",
];
const instant = fc
  .tuple(fc.constantFrom(...BORDERS), fc.constantFrom(-1000, -501, -500, -1, 0, 1, 499, 500, 501, 1000))
  .map(
    ([border, byUs]) =>
      Number(BigInt(Date.parse(`2026-03-10T${border.slice(0, 12)}Z`)) * 1000n) +
      Number(border.slice(12)) +
      byUs,
  );

const drawn = fc.record({
  calls: fc.array(fc.record({ atUs: instant, tokens: fc.integer({ min: 1, max: 1000 }) }), {
    minLength: 6,
    maxLength: 10,
  }),
  /** Micro-dollars a token. */
  prices: fc.uniqueArray(fc.record({ atUs: instant, usdE6: fc.integer({ min: 1, max: 9 }) }), {
    selector: ({ atUs }) => atUs,
    minLength: 1,
    maxLength: 4,
  }),
  feedback: fc.array(instant, { minLength: 2, maxLength: 8 }),
  windows: fc.array(
    fc.record({ ends: fc.tuple(instant, instant), granularity: fc.constantFrom(1, 5, 900, 3600, undefined) }),
    { minLength: 3, maxLength: 5 },
  ),
});
/** Also with calls just before a price is in force, and as it begins. */
const history = drawn.map(({ calls, ...about }) => {
  const begins = about.prices.map(({ atUs }) => atUs);
  const beside = begins.flatMap((atUs) => [atUs - 1, atUs]).map((atUs) => ({ atUs, tokens: 7 }));
  return { ...about, calls: [...calls, ...beside] };
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** As it is sent: always to the microsecond. */
function sent(us: number): string {
  const ms = Math.floor(us / 1000);
  return new Date(ms).toISOString().replace("Z", `${String(us - ms * 1000).padStart(3, "0")}Z`);
}

/** As it is told: microseconds where there are some. */
const told = (us: number): string => sent(us).replace(/000Z$/, "Z");

/** Returns the value in force at an instant: the latest that is not after it. */
function inForce<Dated extends { readonly atUs: number }>(
  dated: readonly Dated[],
  us: number,
): Dated | undefined {
  return dated
    .filter(({ atUs }) => atUs <= us)
    .toSorted((a, b) => a.atUs - b.atUs)
    .at(-1);
}

// eslint-disable-next-line typescript/no-explicit-any -- assertions look into answers of any shape
async function ask(url: string, body: object): Promise<any> {
  const response = await test.post(url, body);
  expect(response.status, `${url} ${JSON.stringify(body)}: ${response.text}`).toBe(200);
  return url === "/calls/stream_query" ? response.text : response.json();
}

let projects = 0;
async function store({ calls, prices, feedback }: History): Promise<string> {
  const project_id = `acme/micro-${projects++}`;
  const batch = calls.map(({ atUs, tokens }, n) => ({
    project_id,
    id: `c${n}`,
    trace_id: `t${n}`,
    op_name: "op",
    started_at: sent(atUs),
    ended_at: sent(atUs + 5000),
    inputs: {},
    attributes: {},
    output: null,
    summary: { usage: { own: { requests: 1, prompt_tokens: tokens } } },
  }));
  expect(await ask(`/v2/${project_id}/calls/complete`, { batch })).toEqual({ rejected: [] });
  for (const { atUs, usdE6 } of prices) {
    const own = { prompt_token_cost: usdE6 / 1e6, completion_token_cost: 0, effective_date: sent(atUs) };
    await ask("/cost/create", { project_id, costs: { own } });
  }
  const sentFeedback = {
    batch: feedback.map((atUs, n) => ({
      project_id,
      id: `f${n}`,
      weave_ref: "weave:///acme/x/call/c",
      feedback_type: "score",
      payload: { value: n },
      created_at: sent(atUs),
    })),
  };
  // what is sent again counts once
  for (let time = 0; time < 2; time++) await ask("/feedback/batch/create", sentFeedback);
  return project_id;
}

interface Totals {
  calls: number;
  tokens: number;
  /** Null: none of the calls had a price. */
  usdE6: number | null;
}

function totalsOf({ prices }: History, calls: History["calls"]): Totals {
  const totals: Totals = { calls: 0, tokens: 0, usdE6: calls.length === 0 ? 0 : null };
  for (const { atUs, tokens } of calls) {
    totals.calls++;
    totals.tokens += tokens;
    const price = inForce(prices, atUs);
    if (price !== undefined) totals.usdE6 = (totals.usdE6 ?? 0) + tokens * price.usdE6;
  }
  return totals;
}

const saidTotals = (total: Record<string, number | null>): Totals => ({
  calls: total["calls"]!,
  tokens: total["prompt_tokens"]!,
  usdE6: total["total_cost"] === null ? null : Math.round(total["total_cost"]! * 1e6),
});

interface Asked {
  readonly project_id: string;
  readonly start: string;
  readonly end: string;
  readonly granularity: number | undefined;
}

interface Window {
  readonly asked: Asked;
  readonly startUs: number;
  readonly endUs: number;
  readonly isIn: (us: number) => boolean;
}

function windowOf(project_id: string, { ends, granularity }: History["windows"][number]): Window {
  const [startUs, endUs] = ends.toSorted((a, b) => a - b) as [number, number];
  const asked = { project_id, start: sent(startUs), end: sent(endUs), granularity };
  return { asked, startUs, endUs, isIn: (us) => us >= startUs && us < endUs };
}

/** Groups items by the timestamp of their bucket; omits empty buckets. */
function byBucket<Item>(
  items: readonly Item[],
  atUs: (item: Item) => number,
  granularity: number,
): Map<string, Item[]> {
  const sizeUs = granularity * 1e6;
  const sorted = items.toSorted((a, b) => atUs(a) - atUs(b));
  return Map.groupBy(sorted, (item) => told(Math.floor(atUs(item) / sizeUs) * sizeUs));
}

const counts = (buckets: ReadonlyMap<string, readonly unknown[]>): [string, number][] =>
  [...buckets].map(([timestamp, of]) => [timestamp, of.length]);

type Check = (about: History, window: Window) => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  async "/usage/stats"(about, { asked, startUs, endUs, isIn }) {
    const calls = about.calls.filter(({ atUs }) => isIn(atUs));
    const stats = await ask("/usage/stats", { ...asked, group_by: ["llm"], include_costs: true });
    expect([stats.start, stats.end]).toEqual([told(startUs), told(endUs)]);
    expect(saidTotals(stats.total)).toEqual(totalsOf(about, calls));
    const buckets = byBucket(calls, ({ atUs }) => atUs, stats.granularity);
    for (const { timestamp, total } of stats.buckets) {
      const expected = totalsOf(about, buckets.get(timestamp) ?? []);
      expect([timestamp, saidTotals(total)]).toEqual([timestamp, expected]);
    }
  },

  async "/feedback/stats"(about, { asked, startUs, endUs, isIn }) {
    const stats = await ask("/feedback/stats", asked);
    expect([stats.start, stats.end]).toEqual([told(startUs), told(endUs)]);
    const rows = about.feedback.filter(isIn);
    expect(nonEmpty(stats.buckets)).toEqual(counts(byBucket(rows, (atUs) => atUs, stats.granularity)));
    const { paths } = await ask("/feedback/payload_schema", asked);
    expect(paths).toHaveLength(rows.length > 0 ? 1 : 0);
  },

  async "/calls/stream_query"(about, { asked, startUs, endUs, isIn }) {
    const started = { $getField: "started_at" };
    const query = {
      $expr: {
        $and: [
          { $gte: [started, { $literal: sent(startUs) }] },
          { $lt: [started, { $literal: sent(endUs) }] },
        ],
      },
    };
    const { project_id } = asked;
    const text: string = await ask("/calls/stream_query", { project_id, query, columns: ["id"] });
    expect(text.split("\n").filter((line) => line !== "")).toHaveLength(
      about.calls.filter(({ atUs }) => isIn(atUs)).length,
    );
  },
};

const nonEmpty = (buckets: readonly { timestamp: string; count: number }[]): [string, number][] =>
  buckets.filter(({ count }) => count > 0).map(({ timestamp, count }) => [timestamp, count]);

async function checkReceipts(project_id: string, about: History): Promise<void> {
  for (const [n, { atUs }] of about.calls.entries()) {
    const { started_at, lines } = await ask("/call/receipt", { project_id, call_id: `c${n}` });
    const price = inForce(about.prices, atUs);
    expect(started_at).toBe(told(atUs));
    expect(lines[0].price?.effective_date).toBe(price && told(price.atUs));
    expect(lines[0].rate_usd).toBe(price ? price.usdE6 / 1e6 : null);
  }
}

describe("the microsecond decides", () => {
  it.each(Object.keys(checks))("the calls of a window, in %s", async (name) => {
    for (const [project, about] of stored)
      for (const one of about.windows) await checks[name]!(about, windowOf(project, one));
  });

  it("the price of a receipt", async () => {
    for (const [project, about] of stored) await checkReceipts(project, about);
  });

  it("the totals of materialized hours", async () => {
    await materializeAll(test.engine);
    const [materialized] = await test.engine.rows<{ projects: number }>(
      sql`SELECT uniqExact(project_id) AS projects FROM usage_rollup`,
      { name: "test" },
    );
    expect(materialized).toEqual({ projects: RUNS });
    for (const [project, about] of stored)
      for (const one of about.windows) await checks["/usage/stats"]!(about, windowOf(project, one));
  });
});
