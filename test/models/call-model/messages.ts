import fc from "fast-check";

/** The members a message may have, as clients write them; one that is absent is not in it. */
export type Members = Readonly<Record<string, unknown>>;

/** A message about a call, on any route. */
export interface Message {
  readonly kind: "start" | "end" | "complete" | "rename" | "span";
  readonly id: CallName;
  readonly members: Members;
}

const NAMES = ["a", "b", "c", "d"] as const;
/** Their starts never name a trace. */
export const TRACELESS = ["n", "m"] as const;
export const SPANS = ["s", "t"] as const;
/** The calls of one lane. */
export const ALL_CALLS = [...NAMES, ...TRACELESS, ...SPANS] as const;
export type CallName = (typeof ALL_CALLS)[number];

/** Whom a start may name, so that there is no cycle. */
const PARENTS: Readonly<Record<CallName, readonly CallName[]>> = {
  a: [],
  b: ["a"],
  c: ["a", "b"],
  d: ["c"],
  n: ["a", "b"],
  m: ["n"],
  s: [],
  t: ["s"],
};

export const INPUT_REFS = ["weave:///e/p/object/in:1", "weave:///e/p/object/in:2"] as const;
export const OUTPUT_REFS = ["weave:///e/p/object/out:1", "weave:///e/p/object/out:2"] as const;

/** The last one is beyond the thousandth. */
const MANY_REFS = [...Array.from({ length: 1_000 }, (_, at) => `weave:///e/p/object/o:${at}`), INPUT_REFS[1]];

const orNull = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.constant(null) });
const oneOf = (...values: readonly unknown[]) => orNull(fc.constantFrom(...values));

const tokens = fc.constantFrom(1, 100).map((count) => ({ requests: 1, prompt_tokens: count }));
const summaryWithoutUsage = fc.constantFrom({ status_counts: { error: 1 } }, {});
const summary = fc.oneof(
  tokens.map((m) => ({ usage: { m } })),
  tokens.map((m) => ({ usage: { m, k: { requests: 2, completion_tokens: 7 } } })),
  summaryWithoutUsage,
);
/** Mostly of one hour; some of an hour and of a month of their own. */
const startedAt = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "2026-01-01T00:00:00Z",
      "2026-01-01T01:00:01.000001+01:00",
      "2026-01-01T00:00:02",
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("2025-12-31T23:59:59.999999Z", "2025-11-30T12:00:00Z") },
);
const endedAt = fc.constantFrom("2026-01-01T00:01:00Z", "2026-01-01T00:02:00.5Z");

const startMembers = (id: CallName) => ({
  op_name: fc.constantFrom("op", "weave:///e/p/op/name:v1"),
  started_at: startedAt,
  parent_id: oneOf("", ...PARENTS[id]),
  display_name: oneOf("A", "B", ""),
  thread_id: oneOf("th1", "th2", ""),
  turn_id: oneOf("tu1", "tu2", ""),
  wb_user_id: oneOf("u1", "u2", ""),
  wb_run_id: oneOf("r1", "r2", ""),
  wb_run_step: oneOf(0, 5, 7),
  inputs: fc.oneof(
    {
      weight: 20,
      arbitrary: oneOf({ v: "1" }, { v: "2", r: INPUT_REFS[0] }, { deep: [{ r: INPUT_REFS[1] }] }),
    },
    { weight: 1, arbitrary: fc.constant({ v: "2", refs: MANY_REFS }) },
  ),
  attributes: oneOf({ tenant: "x" }, { tenant: "y", weave: { source: "js-sdk" } }, {}),
});
const endMembers = {
  ended_at: endedAt,
  display_name: oneOf("E", "F", ""),
  output: oneOf({ v: "1" }, OUTPUT_REFS[0], { v: "2", r: OUTPUT_REFS[1] }, "text", 5),
  summary: orNull(summary),
  exception: oneOf("boom", "bang", ""),
};

interface Shape {
  readonly kind: Message["kind"];
  readonly id: CallName;
  readonly always?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  readonly sometimes: Readonly<Record<string, fc.Arbitrary<unknown>>>;
}

function messageOf({ kind, id, always = {}, sometimes }: Shape): fc.Arbitrary<Message> {
  const members = fc.record({ ...always, ...sometimes }, { requiredKeys: Object.keys(always) });
  return members.map((said) => ({ kind, id, members: said }));
}

export const start = fc.constantFrom(...NAMES, ...TRACELESS).chain((id) => {
  const { op_name, started_at, ...sometimes } = startMembers(id);
  return messageOf({ kind: "start", id, always: { op_name, started_at }, sometimes });
});

export const end = fc.constantFrom(...ALL_CALLS).chain((id) => {
  const { ended_at, ...sometimes } = endMembers;
  // a span that reports usage and has others below it: whose tokens are these is another test
  const said = id === "s" ? { ...sometimes, summary: orNull(summaryWithoutUsage) } : sometimes;
  return messageOf({ kind: "end", id, always: { ended_at }, sometimes: said });
});

export const complete = fc.constantFrom(...NAMES).chain((id) => {
  const { op_name, started_at, ...ofStart } = startMembers(id);
  const sometimes = { ...ofStart, ...endMembers, ended_at: orNull(endedAt) };
  return messageOf({ kind: "complete", id, always: { op_name, started_at }, sometimes });
});

/** One without a name is refused. */
export const rename = fc
  .constantFrom(...ALL_CALLS)
  .chain((id) => messageOf({ kind: "rename", id, sometimes: { display_name: oneOf("R", "S", "") } }));

/** Attributes are there or not; nothing in them says "none". */
export const span = fc.constantFrom(...SPANS).chain((id) =>
  messageOf({
    kind: "span",
    id,
    always: {
      op_name: fc.constantFrom("chat", "tool"),
      started_at: startedAt,
      ...(id === "t" && { parent_id: fc.constant("s") }),
    },
    sometimes: {
      ended_at: endedAt,
      display_name: fc.constantFrom("O", "P"),
      thread_id: fc.constantFrom("th1", "th2"),
      inputs: fc.constantFrom({ v: "1" }, { v: "2", r: INPUT_REFS[0] }),
      output: fc.constantFrom({ v: "1" }, { v: "2", r: OUTPUT_REFS[1] }),
      // the other one is its parent
      ...(id === "t" && { summary: tokens.map((m) => ({ usage: { m } })) }),
    },
  }),
);
