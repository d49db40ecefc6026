import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Project } from "../../src/shared/project.ts";
import { aimedOperation } from "../models/aimed-queries.ts";
import { evaluateQuery } from "../models/evaluate-query.ts";
import { randomCall, randomOperation } from "../models/random-queries.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { selectByQueries } from "../helpers/select-by-queries.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";
import { storeCalls, type StoredCall } from "../helpers/stored-calls.ts";

const SEED = chosenSeed();
const EXPRESSIONS = runs(400, 10_000);
const CALLS = 60;

const project = "acme/random" as Project;
const calls: readonly StoredCall[] = fc
  .sample(randomCall, { numRuns: CALLS, seed: SEED })
  .map((call, index) => ({ ...call, id: `c${String(index).padStart(3, "0")}`, project_id: project }));

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
  await storeCalls(test.engine, calls);
});
afterAll(() => test.close());

/** With its negation beside it, an expression shows false from unknown. */
function asQueries(operation: object): [{ $expr: object }, { $expr: object }] {
  return [{ $expr: operation }, { $expr: { $not: [operation] } }];
}

describe(`the compiler and the evaluator written from the reference (SEED=${SEED})`, () => {
  it(
    `agree on ${EXPRESSIONS} random expressions over ${CALLS} random calls`,
    { timeout: 3_600_000 },
    async () => {
      const operation = fc.oneof(randomOperation, aimedOperation(calls));
      const queries = fc.sample(operation, { numRuns: EXPRESSIONS, seed: SEED }).flatMap(asQueries);
      const selected = await selectByQueries(test.engine, project, queries);
      let trues = 0;
      for (const [index, query] of queries.entries()) {
        const expected = calls.filter((call) => evaluateQuery(query, call) === true).map((call) => call.id);
        expect(selected[index], JSON.stringify(query)).toEqual(expected);
        trues += expected.length;
      }
      // A generator whose expressions select nothing would agree with anything.
      expect(trues / (queries.length * CALLS)).toBeGreaterThan(0.1);
    },
  );
});
