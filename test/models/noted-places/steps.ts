import fc from "fast-check";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Calls that started before so many days go, once retention passes. */
export const KEPT_DAYS = 30;
export const PROJECTS = 2;

/** What is sent about calls whose number is `call`, of a trace that the number chooses. */
export interface Sent {
  readonly call: number;
  /** Index into the instants of the model. */
  readonly at: number;
  readonly tokens: number;
}

export type Step = { readonly project: number; readonly app: 0 | 1 } & (
  | { readonly does: "start" | "end" | "update" | "feedback" | "delete"; readonly of: Sent }
  | { readonly does: "batch" | "complete" | "spans"; readonly all: readonly Sent[] }
  | {
      readonly does: "restart" | "delete project" | "retention" | "settle" | "rebuild" | "backup" | "restore";
    }
);

/** Of these calls three are of each trace; a call and the next of its trace are parent and child. */
export const CALLS = 9;
/** Spans have ids of their own, in traces of their own. */
export const SPANS = 4;
export const INSTANTS = 6;

/** Mostly the same service, project and hour again: what it remembers must be asked of it. */
const mostly = (max: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(max) });
const common = {
  project: mostly(PROJECTS - 1),
  app: fc.constantFrom(0 as const, 0 as const, 0 as const, 1 as const),
};
const sentOf = (calls: number): fc.Arbitrary<Sent> =>
  fc.record({ call: fc.nat(calls - 1), at: mostly(INSTANTS - 1), tokens: fc.integer({ min: 1, max: 500 }) });

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...common,
      does: fc.constantFrom("start" as const, "start" as const, "end" as const),
      of: sentOf(CALLS),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      ...common,
      does: fc.constantFrom("batch" as const, "complete" as const),
      all: fc.array(sentOf(CALLS), { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...common,
      does: fc.constant("spans" as const),
      all: fc.array(sentOf(SPANS), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...common,
      does: fc.constantFrom("update" as const, "feedback" as const, "delete" as const),
      of: sentOf(CALLS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...common,
      does: fc.constantFrom("delete project" as const, "retention" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...common,
      does: fc.constantFrom(
        "restart" as const,
        "settle" as const,
        "rebuild" as const,
        "backup" as const,
        "restore" as const,
      ),
    }),
  },
);
