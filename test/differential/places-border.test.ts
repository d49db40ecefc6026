import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { join, param, sql, type Sql } from "../../src/query/sql.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const QUESTIONS = runs(16, 100);
/** The look-up of places ends after so many (`src/query/narrow.ts`). */
const BORDER = 1000;
/** An hour and a trace. Place `n` has the calls of step and turn `n`. */
const PLACES = BORDER + 12;
const PROJECTS = ["acme/border", "acme/beside"] as const;
type ProjectName = (typeof PROJECTS)[number];
const BEGIN_MS = Date.UTC(2026, 1, 27, 20);
const HOUR_MS = 3_600_000;
const random = seededRandom();
const chance = (of: number): boolean => random.next() < of;
const below = (max: number): number => Math.floor(random.next() * max);
const iso = (ms: number): string => new Date(ms).toISOString();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  await test.engine.command(sql`SYSTEM STOP MERGES calls`, { name: "test" });
  for (const project of PROJECTS) await store(project);
}, 120_000);
afterAll(() => test.close());

interface Call {
  readonly id: string;
  readonly place: number;
  readonly startedMs: number;
}

/** Every second place is the second hour of the trace before it. */
function startOf(project_id: string, { id, place, startedMs }: Call): object {
  const start = {
    project_id,
    id,
    trace_id: `t-${Math.floor(place / 2)}`,
    op_name: `op-${place % 3}`,
    started_at: iso(startedMs),
    wb_run_step: place,
    turn_id: `turn-${place}`,
    attributes: {},
    inputs: { n: below(4) },
  };
  return { mode: "start", req: { start } };
}

/** Calls whose parts lie in several pieces: ended, renamed, moved to another place's step, and deleted by rows of their own. */
async function store(project_id: ProjectName): Promise<void> {
  const calls = Array.from({ length: PLACES + 300 }, (_, at): Call => {
    const place = at < PLACES ? at : below(PLACES);
    const hour = (place % 2) + 3 * below(at < PLACES ? 1 : 2);
    return { id: `c-${at}`, place, startedMs: BEGIN_MS + hour * HOUR_MS + below(HOUR_MS) };
  });
  await send(
    "/call/upsert_batch",
    calls.map((call) => startOf(project_id, call)),
  );
  const ends = calls
    .filter(() => chance(0.8))
    .map(({ id, startedMs }) => {
      const summary = { usage: { m: { requests: 1, prompt_tokens: 1 } } };
      const output = { n: below(4) };
      return { mode: "end", req: { end: { project_id, id, ended_at: iso(startedMs + 5), output, summary } } };
    });
  await send("/call/upsert_batch", ends);
  const others = calls.slice(PLACES);
  const moved = others.filter(() => chance(0.3)).map((call) => ({ ...call, place: call.place ^ 1 }));
  await send(
    "/call/upsert_batch",
    moved.map((call) => startOf(project_id, call)),
  );
  for (const { id } of others.filter(() => chance(0.05))) {
    expect((await test.post("/call/update", { project_id, call_id: id, display_name: "b" })).status).toBe(
      200,
    );
  }
  const gone = others.filter(() => chance(0.2)).map(({ id }) => id);
  expect((await test.post("/calls/delete", { project_id, call_ids: gone })).status).toBe(200);
}

async function send(url: string, batch: readonly object[]): Promise<void> {
  for (let from = 0; from < batch.length; from += 500) {
    const answer = await test.post(url, { batch: batch.slice(from, from + 500) });
    expect(answer.json().rejected, answer.text).toEqual([]);
  }
}

/** What is asked, and the same by hand. */
interface Condition {
  readonly filter?: object;
  readonly conjuncts: readonly object[];
  readonly byHand: readonly Sql[];
}

const field = ($getField: string): object => ({ $getField });
const literal = ($literal: unknown): object => ({ $literal });
const near = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: BORDER - 1, max: BORDER + 2 }) },
  fc.integer({ min: BORDER - 10, max: PLACES }),
  fc.constantFrom(0, 1, 50),
);
/** True in so many places. */
const narrow: fc.Arbitrary<Condition> = fc
  .tuple(near, fc.constantFrom("step", "turns", "not", "filter", "op"))
  .map(([places, how]) => {
    const turns = Array.from({ length: places }, (_, at) => `turn-${at}`);
    const isBelow = sql`svc_run_step < ${param("Int64", places)}`;
    if (how === "turns") {
      const query = { $in: [field("turn_id"), turns.map(literal)] };
      return {
        conjuncts: [turns.length > 900 ? { $lt: [field("svc_run_step"), literal(places)] } : query],
        byHand: [isBelow],
      };
    }
    if (how === "not") {
      return {
        conjuncts: [{ $not: [{ $gte: [field("svc_run_step"), literal(places)] }] }],
        byHand: [isBelow],
      };
    }
    if (how === "filter" && places > 0) {
      const byHand = [sql`has(${param("Array(String)", turns)}, turn_id)`];
      return { filter: { turn_ids: turns }, conjuncts: [], byHand };
    }
    const isOp = how === "op" ? { filter: { op_names: ["op-1", "op-2"] } } : {};
    return {
      ...isOp,
      conjuncts: [{ $lt: [field("svc_run_step"), literal(places)] }],
      byHand: [isBelow, ...(how === "op" ? [sql`op_name IN ('op-1', 'op-2')`] : [])],
    };
  });
const payload: fc.Arbitrary<Condition> = fc
  .tuple(fc.constantFrom("inputs", "output"), fc.nat(4), fc.boolean())
  .map(([document, n, isNot]) => {
    const query = { $eq: [field(`${document}.n`), literal(n)] };
    const text = document === "inputs" ? sql`inputs` : sql`output`;
    const has = sql`JSONHas(coalesce(${text}, ''), 'n')`;
    const is = sql`JSONExtractInt(coalesce(${text}, ''), 'n') = ${param("Int64", n)}`;
    return {
      conjuncts: [isNot ? { $not: [query] } : query],
      byHand: [has, isNot ? sql`NOT (${is})` : is],
    };
  });
const window: fc.Arbitrary<Condition> = fc.integer({ min: 0, max: 5 * 60 }).map((minutes) => {
  const at = iso(BEGIN_MS + minutes * 60_000);
  return {
    conjuncts: [{ $gte: [field("started_at"), literal(at)] }],
    byHand: [
      sql`started_at >= toDateTime64(${param("String", at.slice(0, 23).replace("T", " "))}, 6, 'UTC')`,
    ],
  };
});
const question = fc
  .tuple(narrow, payload, fc.option(window, { nil: undefined, freq: 3 }), fc.constantFrom(...PROJECTS))
  .map(([small, large, when, project]) => ({
    project,
    filter: small.filter,
    $and: [...small.conjuncts, ...large.conjuncts, ...(when?.conjuncts ?? [])],
    byHand: [...small.byHand, ...large.byHand, ...(when?.byHand ?? [])],
  }));

async function selectByHand(project: string, conditions: readonly Sql[]): Promise<readonly string[]> {
  const rows = await test.engine.rows<{ id: string }>(
    sql`SELECT id FROM calls FINAL WHERE project_id = ${param("String", project)}
        AND deleted_at IS NULL AND started_at IS NOT NULL AND ${join(conditions, " AND ")} ORDER BY started_at, id`,
    { name: "test" },
  );
  return rows.map(({ id }) => id);
}

async function askFor(asked: object): Promise<readonly string[]> {
  const answer = await test.post("/calls/stream_query", { ...asked, columns: ["id"] });
  expect(answer.status, answer.text).toBe(200);
  return answer.text
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);
}

const byPlaces = async (project: string): Promise<number> => {
  const rows = await test.engine.rows<{ n: number }>(
    sql`SELECT uniqExact(hour, trace_id) AS n FROM calls FINAL WHERE project_id = ${param("String", project)}
        AND deleted_at IS NULL AND started_at IS NOT NULL AND svc_run_step < ${param("Int64", BORDER + 1)}`,
    { name: "test" },
  );
  return rows[0]!.n;
};

describe(`a payload condition beside a narrow one (seed ${random.seed})`, () => {
  it("has the calls that SQL has, on both sides of a thousand places", { timeout: 300_000 }, async () => {
    // The questions are about the border only if some of them have a place more than the look-up holds.
    expect(await byPlaces(PROJECTS[0])).toBeGreaterThan(BORDER);
    let found = 0;
    for (const { project, filter, $and, byHand } of fc.sample(question, {
      numRuns: QUESTIONS,
      seed: random.seed,
    })) {
      const asked = { project_id: project, filter, query: { $expr: { $and } } };
      const expected = await selectByHand(project, byHand);
      const told = `seed ${random.seed}: ${JSON.stringify(asked).slice(0, 2000)}`;
      expect(await askFor(asked), told).toEqual(expected);
      const counted = await test.post("/calls/query_stats", asked);
      expect(counted.json(), told).toEqual({ count: expected.length });
      const usage = await test.post("/trace/usage", asked);
      expect(Object.keys(usage.json().call_usage as object).toSorted(), told).toEqual(expected.toSorted());
      found += expected.length;
    }
    // Questions that select nothing would agree with anything.
    expect(found).toBeGreaterThan(QUESTIONS);
  });
});
