import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { TestApp } from "./start-app.ts";

export interface Vector {
  readonly name: string;
  readonly group: string;
  readonly request: Record<string, unknown>;
  readonly expect: {
    readonly status: number;
    readonly body?: Record<string, unknown>;
    readonly checks?: Readonly<Record<string, number>>;
    readonly loc?: readonly (string | number)[];
  };
}

export const vectors = JSON.parse(
  readFileSync(new URL("../fixtures/vectors/feedback.json", import.meta.url), "utf8"),
) as { feedback: object[]; cases: Vector[] };

/** Stores the rows of the vectors. */
export async function storeVectors(test: Pick<TestApp, "post">): Promise<void> {
  const created = await test.post("/feedback/batch/create", { batch: vectors.feedback });
  expect([created.status, created.json().rejected]).toEqual([200, []]);
}

/** Asks what a vector asks and expects what it expects. */
export async function checkVector(test: Pick<TestApp, "post">, vector: Vector): Promise<void> {
  const response = await test.post("/feedback/stats", vector.request);
  const { status, body, checks, loc } = vector.expect;
  expect(response.status, response.text).toBe(status);
  const actual = response.json();
  if (loc !== undefined) expect(actual.detail[0].loc.slice(0, loc.length)).toEqual(loc);
  if (body !== undefined) expectAlike(actual, body, "body");
  if (checks !== undefined) expectFacts(actual, checks);
}

const INSTANTS = new Set(["start", "end", "timestamp"]);

/** Instants by value, numbers to 1e-9, objects whatever the order of their keys. */
function expectAlike(actual: unknown, expected: unknown, place: string): void {
  const member = place.slice(place.lastIndexOf(".") + 1);
  if (typeof expected === "number") {
    expect(typeof actual, place).toBe("number");
    expect(Math.abs((actual as number) - expected), place).toBeLessThanOrEqual(1e-9 * Math.abs(expected));
  } else if (typeof expected === "string" && INSTANTS.has(member)) {
    expect(Date.parse(actual as string), place).toBe(Date.parse(expected));
    expect(actual, place).toMatch(/Z$/);
  } else if (typeof expected === "object" && expected !== null) {
    expect(Object.keys(actual as object).sort(), place).toEqual(Object.keys(expected).sort());
    for (const [key, value] of Object.entries(expected)) {
      expectAlike((actual as Record<string, unknown>)[key], value, `${place}.${key}`);
    }
  } else {
    expect(actual, place).toBe(expected);
  }
}

interface Answer {
  readonly granularity: number;
  readonly buckets: readonly { readonly count: number }[];
}

function expectFacts(response: Answer, checks: Readonly<Record<string, number>>): void {
  const facts: Record<string, number> = {
    granularity: response.granularity,
    bucket_count: response.buckets.length,
    sum_of_count: response.buckets.reduce((sum, bucket) => sum + bucket.count, 0),
  };
  for (const [check, value] of Object.entries(checks)) {
    const fact = facts[check.replace(/_(min|max)$/, "")]!;
    if (check.endsWith("_min")) expect(fact, check).toBeGreaterThanOrEqual(value);
    else if (check.endsWith("_max")) expect(fact, check).toBeLessThanOrEqual(value);
    else expect(fact, check).toBe(value);
  }
}
