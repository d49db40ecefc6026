import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hourOf } from "../../src/shared/instant.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const QUESTIONS = runs(3, 200);
const CALLS = 120;
const HOUR_MS = 3_600_000;
const project_id = "acme/in-time";
const random = seededRandom();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  await send();
}, 120_000);
afterAll(() => test.close());

interface Call {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  startedMs: number;
  endedMs: number | null;
  n: number;
}

const calls = new Map<string, Call>();

/** On the hour, just before it, and anywhere: hours, days, months and years apart. */
function someInstant(): number {
  const far = [0, 1, 2, 25, 800, 24 * 400, -24 * 365 * 60][Math.floor(random.next() * 7)]!;
  const at = Date.UTC(2026, 0, 31, 22) + (far + Math.floor(random.next() * 5)) * HOUR_MS;
  return at + [0, -1, 1, Math.floor(random.next() * HOUR_MS)][Math.floor(random.next() * 4)]!;
}

const iso = (ms: number): string => new Date(ms).toISOString();
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;

/** Starts and ends in any order, some whole, some never ended, and a third of the calls started again at another time. */
async function send(): Promise<void> {
  for (let at = 0; at < CALLS; at++) {
    const trace = `trace-${at % 17}`;
    const known = [...calls.values()].filter((call) => call.trace === trace);
    const startedMs = someInstant();
    const length = pick([5, 3 * HOUR_MS, 700 * HOUR_MS, -2 * HOUR_MS]);
    const parent = known.length === 0 || random.next() < 0.2 ? null : pick(known).id;
    const endedMs = random.next() < 0.15 ? null : startedMs + length;
    calls.set(`c-${at}`, { id: `c-${at}`, trace, parent, startedMs, endedMs, n: at % 5 });
  }
  const first = [...calls.values()].flatMap((call) => [startOf(call), ...endOf(call)]);
  await sendInBatches(shuffled(first));
  const again = [...calls.values()].filter(() => random.next() < 0.33);
  for (const call of again) {
    call.startedMs = someInstant();
    call.n += 10;
  }
  await sendInBatches(again.map(startOf));
  const ended = again.filter(() => random.next() < 0.5);
  for (const call of ended) call.endedMs = someInstant();
  await sendInBatches(ended.flatMap(endOf));
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function startOf({ id, trace, parent, startedMs, n }: Call): object {
  const start = {
    project_id,
    id,
    trace_id: trace,
    parent_id: parent,
    op_name: `op-${n % 5}`,
    started_at: iso(startedMs),
    inputs: { n },
    attributes: {},
  };
  return { mode: "start", req: { start } };
}

function endOf({ id, endedMs }: Call): object[] {
  if (endedMs === null) return [];
  const summary = { usage: { m: { requests: 1, prompt_tokens: 1 } } };
  return [{ mode: "end", req: { end: { project_id, id, ended_at: iso(endedMs), output: {}, summary } } }];
}

async function sendInBatches(items: readonly object[]): Promise<void> {
  for (let from = 0; from < items.length; from += 40) {
    const response = await test.post("/call/upsert_batch", { batch: items.slice(from, from + 40) });
    expect(response.json().rejected).toEqual([]);
  }
}

interface Question {
  readonly query: object;
  /** Null: unknown, as is what is asked about the end of a call that has none. */
  readonly holds: (call: Call) => boolean | null;
}

const instants = fc.integer({ min: 0, max: 10_000 }).map(() => someInstant());
const fields = fc.constantFrom("started_at" as const, "ended_at" as const);

const comparison: fc.Arbitrary<Question> = fc
  .tuple(fields, fc.constantFrom("$gt", "$gte", "$lt", "$lte", "$eq"), instants, fc.boolean(), fc.boolean())
  .map(([field, operator, at, isTurned, asSeconds]) => {
    const sides = [{ $getField: field }, { $literal: asSeconds ? at / 1000 : iso(at) }];
    return {
      query: { [operator]: isTurned ? sides.toReversed() : sides },
      holds: (call) => {
        const value = field === "started_at" ? call.startedMs : call.endedMs;
        if (value === null) return null;
        const [left, right] = isTurned ? [at, value] : [value, at];
        return {
          $gt: left > right,
          $gte: left >= right,
          $lt: left < right,
          $lte: left <= right,
          $eq: left === right,
        }[operator];
      },
    };
  });
/** Before and after all calls: what the store cannot hold, and milliseconds where seconds are meant. */
const distant: fc.Arbitrary<Question> = fc
  .tuple(
    fields,
    fc.constantFrom("$gt", "$lte"),
    fc.constantFrom(1e300, -1e300, 1e13, -1e13, 1_772_370_000_000, "9999-12-31T23:59:59Z", "0000-01-01"),
  )
  .map(([field, operator, at]) => ({
    query: { [operator]: [{ $getField: field }, { $literal: at }] },
    holds: (call) => {
      if ((field === "started_at" ? call.startedMs : call.endedMs) === null) return null;
      const isBefore = typeof at === "string" ? at < "1" : at < 0;
      return (operator === "$gt") === isBefore;
    },
  }));
const membership: fc.Arbitrary<Question> = fc
  .tuple(fields, fc.integer({ min: 0, max: CALLS - 1 }))
  .map(([field, at]) => {
    const call = calls.get(`c-${at}`)!;
    const value = field === "started_at" ? call.startedMs : (call.endedMs ?? 0);
    return {
      query: { $in: [{ $getField: field }, [{ $literal: iso(value) }, { $literal: iso(value + 1) }]] },
      holds: (other) => {
        const theirs = field === "started_at" ? other.startedMs : other.endedMs;
        return theirs === null ? null : theirs === value || theirs === value + 1;
      },
    };
  });
const payload: fc.Arbitrary<Question> = fc.integer({ min: 0, max: 14 }).map((n) => ({
  query: { $eq: [{ $getField: "inputs.n" }, { $literal: n }] },
  holds: (call) => call.n === n,
}));
const named: fc.Arbitrary<Question> = fc.integer({ min: 0, max: CALLS + 20 }).map((at) => ({
  query: { $eq: [{ $literal: `c-${at}` }, { $getField: "id" }] },
  holds: (call) => call.id === `c-${at}`,
}));
const traced: fc.Arbitrary<Question> = fc.integer({ min: 0, max: 20 }).map((at) => ({
  query: { $in: [{ $getField: "trace_id" }, [{ $literal: `trace-${at}` }, { $literal: `trace-${at + 1}` }]] },
  holds: (call) => [`trace-${at}`, `trace-${at + 1}`].includes(call.trace),
}));
const leaf = fc.oneof({ weight: 6, arbitrary: comparison }, distant, membership, payload, named, traced);
function denied({ query, holds }: Question): Question {
  return {
    query: { $not: [query] },
    holds: (call) => {
      const held = holds(call);
      return held === null ? null : !held;
    },
  };
}

function together(operator: "$and" | "$or", questions: readonly Question[]): Question {
  const decides = operator === "$or";
  return {
    query: { [operator]: questions.map(({ query }) => query) },
    holds: (call) => {
      const held = questions.map(({ holds }) => holds(call));
      if (held.includes(decides)) return decides;
      return held.includes(null) ? null : !decides;
    },
  };
}

const not = leaf.map(denied);
const list = fc
  .tuple(
    fc.constantFrom("$and" as const, "$or" as const),
    fc.array(fc.oneof(leaf, not), { minLength: 1, maxLength: 3 }),
  )
  .map(([operator, some]) => together(operator, some));
const question = fc
  .array(fc.oneof({ weight: 4, arbitrary: leaf }, list, list.map(denied), not), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((some) =>
    fc.oneof(
      fc.constant(together("$and", some)),
      fc
        .array(leaf, { minLength: 1, maxLength: 2 })
        .map((more) => together("$and", [together("$and", some), ...more])),
    ),
  );

const byTime = (a: Call, b: Call): number => a.startedMs - b.startedMs || (a.id < b.id ? -1 : 1);

async function listed(body: object): Promise<string[]> {
  const response = await test.post("/calls/stream_query", { project_id, columns: ["id"], ...body });
  expect(response.status, response.text).toBe(200);
  const lines = response.text.split("\n").slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

describe(`conditions on time (seed ${random.seed})`, () => {
  it("select the model's calls, listed, counted and rolled up", async () => {
    for (const { query, holds } of fc.sample(question, { numRuns: QUESTIONS, seed: random.seed })) {
      const told = `seed ${random.seed}: ${JSON.stringify(query)}`;
      const expected = [...calls.values()].filter((call) => holds(call) === true).toSorted(byTime);
      const ids = expected.map((call) => call.id);
      const asked = { query: { $expr: query } };
      expect(await listed(asked), told).toEqual(ids);
      const newest = await listed({
        ...asked,
        sort_by: [{ field: "started_at", direction: "desc" }],
        limit: 7,
        offset: 1,
      });
      expect(newest, told).toEqual(ids.toReversed().slice(1, 8));
      const counted = await test.post("/calls/query_stats", { project_id, ...asked });
      expect(counted.json(), told).toEqual({ count: ids.length });
      const usage = await test.post("/trace/usage", { project_id, ...asked });
      expect(usage.status, told).toBe(200);
      const totals = Object.fromEntries(
        Object.entries(usage.json().call_usage as Record<string, { m?: { requests: number } }>).map(
          ([id, { m }]) => [id, m?.requests ?? 0],
        ),
      );
      expect(totals, told).toEqual(Object.fromEntries(expected.map((call) => [call.id, endedBelow(call)])));
    }
  });

  it("store all events of a call under one hour, for any start messages", async () => {
    const rows = await test.engine.rows<{ id: string; hours: number }>(
      {
        kind: "sql",
        chunks: [
          "SELECT id, uniqExact(hour) AS hours FROM calls GROUP BY project_id, trace_id, id HAVING hours > 1",
        ],
      },
      { name: "test" },
    );
    expect(rows).toEqual([]);
    expect(hourOf(-1)).toBe(-1);
  });
});

function endedBelow(call: Call): number {
  let ended = call.endedMs === null ? 0 : 1;
  for (const child of calls.values()) if (child.parent === call.id) ended += endedBelow(child);
  return ended;
}
