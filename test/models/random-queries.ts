import * as fc from "fast-check";
import type { StoredCall } from "../helpers/stored-calls.ts";

const TEXTS = [
  "",
  "abc",
  "ABC",
  "a",
  "5",
  "05",
  " 5",
  "1e3",
  "-3",
  "+7",
  "5.5",
  "0.2",
  "true",
  "false",
  "null",
  "nan",
  "inf",
  "256",
  "1e400",
  "9223372036854775808",
  "99999999999999999999",
  'say "hi"',
  "c:\\temp",
  "50% off_now",
  "'; DROP TABLE calls; --",
  "line1\nline2\ttab",
  "CAFÉ",
  "café",
  "naïve 😀",
  "Straße",
  "STRASSE",
  "ΣΊΣΥΦΟΣ",
  "σίσυφος",
  "ПРИВЕТ",
  "\u212Aelvin",
  "ﬁnal",
  "привет",
  "[1,2]",
  '{"k":"v"}',
  "2026-03-01",
  "2026-03-01T12:00:00Z",
  "2026-02-30",
  "1772366400",
  "a,b",
  "x:1",
  "\u2028",
  "\u007f",
  "\u0001",
];
const NUMBERS = [
  0,
  1,
  2,
  5,
  5.5,
  -3,
  0.2,
  1000,
  255,
  256,
  1e21,
  1e-7,
  1.5e300,
  123456789012,
  1e20,
  0.1 + 0.2,
  1772366400,
];
const KEYS = ["a", "b", "a.b", "0", "1", "ключ", 'we"ird', "sp ace", "quo'te", "c:\\t", ""];

const scalar = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 5, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 6 }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.integer() },
);

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("json"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const jsonObject = fc.dictionary(fc.constantFrom(...KEYS), json, {
  minKeys: 1,
  maxKeys: 6,
  noNullPrototype: true,
});

const maybeText = fc.option(fc.constantFrom("", "abc", "5", "CAFÉ", "café", "true", "2026-03-01"), {
  freq: 3,
});
const moment = fc
  .integer({ min: 0, max: 5_000_000 })
  .map((micros) => `2026-03-01T12:00:0${(micros / 1e6).toFixed(6)}Z`);
const refs = fc.uniqueArray(
  fc.constantFrom("weave:///e/p/object/a:v1", "weave:///e/p/object/B:v2", "Ref-É"),
  { maxLength: 2 },
);

/** With every kind of thing in it. */
const anyCall: fc.Arbitrary<Omit<StoredCall, "id" | "project_id">> = fc.record({
  trace_id: fc.constantFrom("t1", "t2"),
  parent_id: maybeText,
  op_name: fc.constantFrom("abc", "weave:///e/p/op/predict:v1", "weave:///e/p/op/Score", "5"),
  display_name: maybeText,
  started_at: moment,
  ended_at: fc.option(
    moment.map((text) => text.replace("12:00", "12:01")),
    { freq: 4 },
  ),
  thread_id: maybeText,
  turn_id: maybeText,
  svc_user_id: maybeText,
  svc_run_id: maybeText,
  svc_run_step: fc.option(fc.constantFrom(0, 1, 5, 255, 1000)),
  exception: fc.option(fc.constantFrom("", "ValueError: boom")),
  inputs: jsonObject,
  output: json,
  attributes: jsonObject,
  summary: fc.oneof(
    jsonObject,
    fc.constantFrom(0, 1, "2", "x").map((error) => ({ status_counts: { error } })),
  ),
  input_refs: refs,
  output_refs: refs,
  deleted_at: fc.constant(null),
});

/** Random call; without an end, it has no end members. */
export const randomCall = anyCall.map((call) =>
  call.ended_at === null ? { ...call, exception: null, output: null, summary: null } : call,
);

const pathStep = fc.constantFrom(...KEYS.map((key) => key.replaceAll(".", String.raw`\.`)), "-1", "2");
const jsonField = fc
  .tuple(
    fc.constantFrom("inputs", "inputs", "output", "attributes", "summary"),
    fc.array(pathStep, { maxLength: 3 }),
  )
  .map(([head, steps]) => [head, ...steps].join("."));
const field = fc
  .oneof(
    { weight: 6, arbitrary: jsonField },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        "id",
        "trace_id",
        "parent_id",
        "op_name",
        "display_name",
        "thread_id",
        "exception",
        "svc_user_id",
        "svc_run_step",
        "started_at",
        "ended_at",
        "deleted_at",
        "input_refs",
        "output_refs",
        "summary.weave.status",
        "summary.weave.latency_ms",
        "summary.weave.trace_name",
      ),
    },
  )
  .map(($getField) => ({ $getField }));

const literal = scalar.map(($literal) => ({ $literal }));
const dateLiteral = fc
  .constantFrom<string | number>(
    "2026-03-01",
    "2026-03-01T12:00:02.5Z",
    "2026-03-01 14:00:01+02:00",
    1772366402,
    1772366401.25,
    "9999-12-31",
  )
  .map(($literal) => ({ $literal }));

/** A comparison with an instant must not have other literals beside it: those are refused, and tested elsewhere. */
const instantField = fc
  .constantFrom("started_at", "ended_at", "deleted_at")
  .map(($getField) => ({ $getField }));
const instantPeer = fc.oneof(
  dateLiteral,
  instantField,
  fc.constant({ $literal: null }),
  jsonField.map(($getField) => ({ $getField })),
);
const other = fc.oneof(
  { weight: 6, arbitrary: jsonField.map(($getField) => ({ $getField })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        "id",
        "parent_id",
        "display_name",
        "exception",
        "svc_run_step",
        "input_refs",
        "summary.weave.status",
        "summary.weave.latency_ms",
        "summary.weave.trace_name",
      )
      .map(($getField) => ({ $getField })),
  },
);

type Expr = Record<string, unknown>;
const comparison = fc.constantFrom("$eq", "$gt", "$lt", "$gte", "$lte");

/** An operation of random shape and depth that the language accepts. */
export const randomOperation: fc.Arbitrary<Expr> = fc.letrec<{
  operation: Expr;
  operand: Expr;
  convert: Expr;
}>((tie) => ({
  convert: fc
    .tuple(
      fc.oneof(field, literal, tie("operand")),
      fc.constantFrom("double", "string", "int", "bool", "exists"),
    )
    .map(([input, to]) => ({ $convert: { input, to } })),
  operand: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 5, arbitrary: other },
    { weight: 4, arbitrary: literal },
    { weight: 2, arbitrary: tie("convert") },
    { weight: 1, arbitrary: tie("operation") },
  ),
  operation: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    {
      weight: 6,
      arbitrary: fc
        .tuple(comparison, tie("operand"), tie("operand"))
        .map(([name, a, b]) => ({ [name]: [a, b] })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(comparison, instantField, instantPeer, fc.boolean())
        .map(([name, a, b, flip]) => ({ [name]: flip ? [b, a] : [a, b] })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(tie("operand"), fc.array(tie("operand"), { maxLength: 4 }))
        .map(([one, list]) => ({ $in: [one, list] })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(instantField, fc.array(instantPeer, { maxLength: 3 }))
        .map(([one, list]) => ({ $in: [one, list] })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.oneof(field, tie("operand")), tie("operand"), fc.constantFrom(true, false, null))
        .map(([input, substr, case_insensitive]) => ({ $contains: { input, substr, case_insensitive } })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom("$and", "$or"),
          fc.array(fc.oneof(tie("operation"), tie("operand")), { minLength: 1, maxLength: 3 }),
        )
        .map(([name, list]) => ({ [name]: list })),
    },
    { weight: 1, arbitrary: fc.oneof(tie("operation"), tie("operand")).map((inner) => ({ $not: [inner] })) },
  ),
})).operation;
