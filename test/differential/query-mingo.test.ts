import * as fc from "fast-check";
import { Query } from "mingo";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Project } from "../../src/shared/project.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { selectByQueries } from "../helpers/select-by-queries.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";
import { storeCalls, type StoredCall } from "../helpers/stored-calls.ts";
import { toMongo } from "../models/to-mongo.ts";

const SEED = chosenSeed();
const EXPRESSIONS = runs(400, 10_000);

/**
 * Values for which MongoDB's expressions and ours agree: existing fields, compared with literals of their own type, and
 * ASCII text. The languages differ for absent fields, other types and unknown results.
 */
const numbers = [0, 1, -3, 5, 5.5, 0.2, 1000, 1e21, 1e-7];
const texts = ["", "abc", "ABC", "abd", "b c", "it's", 'say "hi"', "c:\\temp", "50%", "_"];
const inputs = fc.record({
  n: fc.constantFrom(...numbers),
  m: fc.constantFrom(...numbers),
  s: fc.constantFrom(...texts),
  t: fc.constantFrom(...texts),
  deep: fc.record({ n: fc.constantFrom(...numbers), s: fc.constantFrom(...texts) }),
});

const field = (name: string): object => ({ $getField: `inputs.${name}` });
const literal = (value: unknown): object => ({ $literal: value });
const numberField = fc.constantFrom("n", "m", "deep.n").map(field);
const textField = fc.constantFrom("s", "t", "deep.s").map(field);
const number = fc.constantFrom(...numbers).map(literal);
const text = fc.constantFrom(...texts).map(literal);
const comparison = fc.constantFrom("$eq", "$gt", "$lt", "$gte", "$lte");
const inEitherOrder = (a: fc.Arbitrary<object>, b: fc.Arbitrary<object>): fc.Arbitrary<object[]> =>
  fc.tuple(a, b, fc.boolean()).map(([one, other, swap]) => (swap ? [other, one] : [one, other]));
const asDouble = numberField.map((input) => ({ $convert: { input, to: "double" } }));

const { operation } = fc.letrec<{ operation: object }>((tie) => ({
  operation: fc.oneof(
    { depthSize: "small" },
    fc
      .tuple(comparison, inEitherOrder(numberField, fc.oneof(number, asDouble)))
      .map(([name, sides]) => ({ [name]: sides })),
    fc.tuple(comparison, inEitherOrder(textField, text)).map(([name, sides]) => ({ [name]: sides })),
    fc.tuple(numberField, fc.array(number, { maxLength: 4 })).map(([one, list]) => ({ $in: [one, list] })),
    fc.tuple(textField, fc.array(text, { maxLength: 4 })).map(([one, list]) => ({ $in: [one, list] })),
    fc
      .tuple(fc.constantFrom("$and", "$or"), fc.array(tie("operation"), { minLength: 1, maxLength: 4 }))
      .map(([name, list]) => ({ [name]: list })),
    tie("operation").map((inner) => ({ $not: [inner] })),
  ),
}));

const project = "acme/mingo" as Project;
const calls = fc.sample(inputs, { numRuns: 200, seed: SEED }).map((document, index): StoredCall => ({
  id: `c${String(index).padStart(3, "0")}`,
  project_id: project,
  trace_id: "t",
  parent_id: null,
  op_name: "op",
  display_name: null,
  started_at: "2026-03-01T12:00:00.000000Z",
  ended_at: null,
  thread_id: null,
  turn_id: null,
  svc_user_id: null,
  svc_run_id: null,
  svc_run_step: null,
  exception: null,
  inputs: document,
  output: null,
  attributes: {},
  summary: null,
  input_refs: [],
  output_refs: [],
  deleted_at: null,
}));

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
  await storeCalls(test.engine, calls);
});
afterAll(() => test.close());

describe(`the compiler and mingo (SEED=${SEED})`, () => {
  it(`select the same calls by ${EXPRESSIONS} random expressions`, async () => {
    const expressions = fc.sample(operation, { numRuns: EXPRESSIONS, seed: SEED });
    const queries = expressions.map((expression) => ({ $expr: expression }));
    const selected = await selectByQueries(test.engine, project, queries);
    for (const [index, query] of queries.entries()) {
      const mongo = new Query(toMongo(query) as object);
      const expected = calls.filter((call) => mongo.test({ inputs: call.inputs })).map((call) => call.id);
      expect(selected[index], JSON.stringify(query)).toEqual(expected);
    }
  });
});
