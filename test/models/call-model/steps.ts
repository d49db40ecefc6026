import fc from "fast-check";
import { ALL_CALLS, complete, end, rename, span, start, type CallName, type Message } from "./messages.ts";

/** Messages sent together; before the one with the number `brokenAt` there is an item that cannot be stored. */
interface Batch<Form extends string> {
  readonly form: Form;
  readonly messages: readonly Message[];
  readonly brokenAt?: number | undefined;
}

/** The routes of one message: the body names the project, the path does, or both. */
type Route = "legacy" | "v2" | "v2 alone";

export type Request =
  | { readonly form: "single"; readonly route: Route; readonly message: Message }
  | { readonly form: "update"; readonly message: Message }
  | { readonly form: "delete"; readonly ids: readonly CallName[] }
  | Batch<"batch" | "complete">
  | (Batch<"spans"> & { readonly encoding: "json" | "protobuf" });

/** Requests that are sent at the same time, each to one of two replicas. */
export type Step = readonly { readonly replica: 0 | 1; readonly request: Request }[];

/** An event for all lanes, before or during a step. */
export interface Event {
  readonly step: number;
  readonly what:
    | "restart"
    | "delete project"
    | "delete project meanwhile"
    | "materialize"
    | "materialize meanwhile";
  readonly replica: 0 | 1;
}

const replica = fc.constantFrom(0 as const, 1 as const);

function batchOf<Form extends string>(form: Form, message: fc.Arbitrary<Message>): fc.Arbitrary<Batch<Form>> {
  return fc.record(
    {
      form: fc.constant(form),
      messages: fc.array(message, { minLength: 1, maxLength: 4 }),
      brokenAt: fc.nat(3),
    },
    { requiredKeys: ["form", "messages"] },
  );
}

const request: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      form: fc.constant("single" as const),
      route: fc.constantFrom<Route[]>("legacy", "v2", "v2 alone"),
      message: fc.oneof(start, end),
    }),
  },
  { weight: 4, arbitrary: batchOf("batch", fc.oneof(start, end)) },
  { weight: 3, arbitrary: batchOf("complete", complete) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(batchOf("spans", span), fc.constantFrom("json" as const, "protobuf" as const))
      .map(([batch, encoding]) => ({ ...batch, encoding })),
  },
  { weight: 3, arbitrary: fc.record({ form: fc.constant("update" as const), message: rename }) },
  {
    weight: 1,
    arbitrary: fc.record({
      form: fc.constant("delete" as const),
      ids: fc.uniqueArray(fc.constantFrom(...ALL_CALLS), { minLength: 1, maxLength: 2 }),
    }),
  },
);

const step: fc.Arbitrary<Step> = fc.array(fc.record({ replica, request }), { minLength: 1, maxLength: 3 });

export const MAX_STEPS = 8;

/** One sequence. */
export const sequence: fc.Arbitrary<readonly Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: MAX_STEPS,
  size: "max",
});

export const events: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.record({
    step: fc.nat(MAX_STEPS - 1),
    what: fc.constantFrom(
      "restart",
      "restart",
      "delete project",
      "delete project meanwhile",
      "materialize",
      "materialize",
      "materialize meanwhile",
    ),
    replica,
  }),
  { maxLength: 5, size: "max" },
);
