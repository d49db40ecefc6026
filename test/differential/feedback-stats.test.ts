import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

/** Random projects per run, of up to 200 rows each. */
const RUNS = runs(10, 300);

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

/** JSON texts of one value: the ones clients really send, and the ones that break readers of JSON. */
const number = fc.oneof(
  fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e6, max: 1e6 }).map(String),
  fc.constantFrom(
    "0",
    "1",
    "-0",
    "-0.0",
    "1e300",
    "-1e300",
    "5e-324",
    "1.7976931348623157e308",
    "0.1",
    "1E2",
  ),
  fc.constantFrom("9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551615"),
  fc.constantFrom("18446744073709551616", "123456789012345678901234567890", "-99999999999999999999"),
);
const notANumber = fc.constantFrom("NaN", "Infinity", "-Infinity", "1e400", "-1e999");
const value = fc.oneof(
  { arbitrary: number, weight: 6 },
  { arbitrary: notANumber, weight: 1 },
  { arbitrary: fc.constantFrom("true", "false"), weight: 3 },
  {
    arbitrary: fc.constantFrom("null", '""', '"0.7"', '"1e3"', '"NaN"', '"true"', '"é"', '"\\ud800"'),
    weight: 2,
  },
  { arbitrary: fc.constantFrom("[]", "[1,2]", "{}", '{"deeper":1}', "[[0.5]]"), weight: 1 },
);
const row = fc.record({
  second: fc.integer({ min: 0, max: 3 * 86_400 }),
  top: fc.option(value, { nil: undefined }),
  deep: fc.option(value, { nil: undefined }),
  item: fc.option(value, { nil: undefined }),
  asObject: fc.boolean(),
});
type Row = typeof row extends fc.Arbitrary<infer R> ? R : never;

const paths = ["top", "a b.ü", "list.1.v"] as const;
const START = Date.UTC(2024, 10, 2);
const aggregations = ["sum", "avg", "min", "max", "count", "count_true", "count_false"] as const;

function payloadText({ top, deep, item, asObject }: Row): string {
  const members = [];
  if (top !== undefined) members.push(`"top":${top}`);
  if (deep !== undefined) members.push(`"a b":{"ü":${deep}}`);
  if (item !== undefined) {
    members.push(asObject ? `"list":{"1":{"v":${item}}}` : `"list":[{"v":"no"},{"v":${item}}]`);
  }
  return `{${members.join(",")}}`;
}

/** A value as the rules read it: a number, a truth, or neither. */
function read(text: string | undefined): { number?: number; boolean?: boolean; scalar: boolean } {
  if (text === undefined || /^(null|-?Infinity|NaN|[[{])/.test(text)) return { scalar: false };
  if (text.startsWith('"')) return { scalar: true };
  if (text === "true" || text === "false") return { boolean: text === "true", scalar: true };
  const parsed = Number(text);
  return Number.isFinite(parsed) ? { number: parsed, scalar: true } : { scalar: false };
}

function valueAt(path: (typeof paths)[number], { top, deep, item }: Row) {
  return read({ top, "a b.ü": deep, "list.1.v": item }[path]);
}

/** The aggregates of some numbers, computed plainly. */
function aggregate(values: readonly number[]): Record<string, number | null> {
  const sorted = values.toSorted((a, b) => a - b);
  const sum = values.reduce((total, one) => total + one, 0);
  const quantile = (percent: number): number | null => {
    if (sorted.length === 0) return null;
    const at = (percent / 100) * (sorted.length - 1);
    const low = sorted[Math.floor(at)]!;
    const high = sorted[Math.floor(at) + 1] ?? low;
    const part = at - Math.floor(at);
    // in this order the largest numbers do not overflow on the way
    return low === high ? low : low * (1 - part) + high * part;
  };
  return {
    sum,
    avg: values.length === 0 ? null : sum / values.length,
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    count: values.length,
    count_true: values.filter((one) => one === 1).length,
    count_false: values.filter((one) => one === 0).length,
    p50: quantile(50),
    "p99.9": quantile(99.9),
    p0: quantile(0),
  };
}

/** Equal up to the rounding of a sum of these values. Where their sum can overflow, whether it does is up to their order. */
function expectClose(
  actual: unknown,
  expected: number | null,
  values: readonly number[],
  place: string,
): void {
  const magnitude = values.reduce((total, one) => total + Math.abs(one), 0);
  const isFinite = expected !== null && Number.isFinite(expected);
  if (!Number.isFinite(magnitude) && (actual === null || !isFinite)) return;
  if (!isFinite) return expect(actual, place).toBeNull();
  expect(typeof actual, place).toBe("number");
  const relative = 1e-9 * Math.max(Math.abs(expected), Number.isFinite(magnitude) ? magnitude * 1e-3 : 0);
  const allowed = Math.max(relative, 2 * Number.MIN_VALUE);
  expect(Math.abs((actual as number) - expected), place).toBeLessThanOrEqual(allowed);
}

interface Answer {
  readonly buckets: readonly Record<string, unknown>[];
  readonly window_stats: Readonly<Record<string, Record<string, unknown>>>;
}

async function store(project: string, rows: readonly Row[]): Promise<void> {
  const items = rows.map(
    (one) =>
      `{"project_id":"${project}","weave_ref":"weave:///${project}/call/1","feedback_type":"custom","created_at":"${new Date(START + one.second * 1000).toISOString()}","payload":${payloadText(one)}}`,
  );
  const created = await test.post("/feedback/batch/create", `{"batch":[${items.join(",")}]}`);
  expect(created.json().rejected).toEqual([]);
}

async function ask(project: string, size: number, timezone: string): Promise<Answer> {
  const metrics = paths.flatMap((json_path) => [
    { json_path, value_type: "numeric", aggregations, percentiles: [50, 99.9, 0] },
    { json_path, value_type: "boolean", aggregations: ["count_true"] },
    { json_path, value_type: "categorical" },
  ]);
  const end = new Date(START + 3 * 86_400_000).toISOString();
  const body = {
    project_id: project,
    start: new Date(START).toISOString(),
    end,
    granularity: size,
    timezone,
    metrics,
  };
  const answer = await test.post("/feedback/stats", body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json() as Answer;
}

describe("POST /feedback/stats", () => {
  let projects = 0;

  it("computes what JavaScript computes, whatever the payloads hold", async () => {
    const zones = fc.constantFrom("UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe");
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 200 }),
        fc.constantFrom(1800, 3600, 7200, 10_000, 86_400),
        zones,
        async (rows, size, timezone) => {
          const project = `acme/random-${projects++}`;
          await store(project, rows);
          const answer = await ask(project, size, timezone);
          const inWindow = rows.filter((one) => one.second < 3 * 86_400);
          expect(answer.buckets.reduce((sum, bucket) => sum + Number(bucket["count"]), 0)).toBe(
            inWindow.length,
          );
          const starts = answer.buckets.map((bucket) => Date.parse(String(bucket["timestamp"])));
          for (const path of paths) {
            const slug = path.replaceAll(/\W/g, "_");
            const numbersOf = (some: readonly Row[]) =>
              some.flatMap((one) => valueAt(path, one).number ?? []);
            const expectAll = (
              some: readonly Row[],
              read: (name: string) => unknown,
              place: string,
            ): void => {
              const values = numbersOf(some);
              for (const [name, expected] of Object.entries(aggregate(values))) {
                // the key belongs to the numeric metric: it was named first
                expectClose(read(name), expected, values, `${place} ${name} of ${path}`);
              }
            };
            expectAll(inWindow, (name) => answer.window_stats[slug]![name], "window");
            answer.buckets.forEach((bucket, at) => {
              const here = inWindow.filter((one) => {
                const ms = START + one.second * 1000;
                return ms >= starts[at]! && ms < (starts[at + 1] ?? Infinity);
              });
              expect(bucket["count"]).toBe(here.length);
              expectAll(here, (name) => bucket[`${name}_${slug}`], `bucket ${at}`);
              const trues = here.filter((one) => valueAt(path, one).boolean === true).length;
              const scalars = here.filter((one) => valueAt(path, one).scalar).length;
              expect([bucket[`count_true_${slug}_2`], bucket[`count_${slug}_2`]]).toEqual([trues, scalars]);
            });
          }
        },
      ),
      { numRuns: RUNS },
    );
  });
});
