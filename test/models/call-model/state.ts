import { assertNever } from "../../../src/shared/assert-never.ts";
import type { CallName, Members, Message } from "./messages.ts";
import type { Request } from "./steps.ts";

/** Expected state of a call after all messages. `null`: cleared. */
export interface CallState {
  readonly started: boolean;
  readonly deleted: boolean;
  readonly said: Members;
  /** Display names by who gave them. A rename holds before an end, an end before a start, whatever order they came in. */
  readonly names: { readonly start?: unknown; readonly end?: unknown; readonly rename?: unknown };
}

/** The calls of one lane. Immutable. */
export type LaneState = Readonly<Partial<Record<CallName, CallState>>>;

export const EMPTY: LaneState = {};
const UNSAID: CallState = { started: false, deleted: false, said: {}, names: {} };

/** A call is a child of another within its trace alone. */
export type SameTrace = (one: CallName, other: CallName) => boolean;

/** Everything that may be sent, and the deletion of the project. */
export type Change = Request | { readonly form: "delete project" };

/** The state after a request, by what the contract says a later message changes. */
function afterChange(state: LaneState, change: Change, isSameTrace: SameTrace): LaneState {
  switch (change.form) {
    case "single":
    case "update":
      return afterMessage(state, change.message);
    case "batch":
    case "complete":
    case "spans":
      return change.messages.reduce(afterMessage, state);
    case "delete":
      return afterDelete(state, change.ids, isSameTrace);
    case "delete project":
      return EMPTY;
    default:
      return assertNever(change);
  }
}

/** A message changes what it says and nothing else. */
function afterMessage(state: LaneState, { kind, id, members }: Message): LaneState {
  const before = state[id] ?? UNSAID;
  const { display_name: name, ...said } = members;
  const names =
    name === undefined
      ? before.names
      : {
          ...before.names,
          ...(kind === "rename" && { rename: name }),
          ...((kind === "end" || kind === "complete") && { end: name }),
          ...((kind === "start" || kind === "complete" || kind === "span") && { start: name }),
        };
  const starts = kind === "start" || kind === "complete" || kind === "span";
  const after = { ...before, started: before.started || starts, said: { ...before.said, ...said }, names };
  return { ...state, [id]: after };
}

/** Deletes calls and their live descendants. One that has not started is deleted when it comes. */
function afterDelete(state: LaneState, ids: readonly CallName[], isSameTrace: SameTrace): LaneState {
  const after: Partial<Record<CallName, CallState>> = { ...state };
  for (const id of new Set([...ids, ...doomedBy(state, ids, isSameTrace)])) {
    after[id] = { ...(state[id] ?? UNSAID), deleted: true };
  }
  return after;
}

/** The live calls that deleting these takes away. */
export function doomedBy(
  state: LaneState,
  ids: readonly CallName[],
  isSameTrace: SameTrace,
): readonly CallName[] {
  const live = liveCalls(state);
  const doomed = new Set(live.filter((id) => ids.includes(id)));
  // a set that grows while it is walked
  for (const id of doomed)
    for (const child of live) if (parentOf(state, child) === id && isSameTrace(child, id)) doomed.add(child);
  return [...doomed];
}

export function liveCalls(state: LaneState): readonly CallName[] {
  return (Object.keys(state) as CallName[]).filter((id) => state[id]!.started && !state[id]!.deleted);
}

export function parentOf(state: LaneState, id: CallName): CallName | null {
  return (state[id]!.said["parent_id"] as CallName | "" | null | undefined) || null;
}

export function displayNameOf({ names }: CallState): string | null {
  const said = [names.rename, names.end, names.start].find((name) => name !== undefined);
  return (said as string | null | undefined) || null;
}

/**
 * Every state that may be there after these, when they were sent at the same time: each call takes them in some order,
 * and two calls need not take them in the same one.
 */
export function afterAtOnce(
  states: readonly LaneState[],
  changes: readonly Change[],
  isSameTrace: SameTrace,
): readonly LaneState[] {
  const found = new Map<string, LaneState>();
  for (const state of states) {
    const outcomes = ordersOf(changes).map((order) =>
      order.reduce((one, change) => afterChange(one, change, isSameTrace), state),
    );
    for (const mixed of mixturesOf(outcomes)) found.set(keyOf(mixed), mixed);
  }
  return [...found.values()];
}

/** Every state whose calls are each as one of the outcomes has them. */
function mixturesOf(outcomes: readonly LaneState[]): readonly LaneState[] {
  const names = new Set(outcomes.flatMap((outcome) => Object.keys(outcome) as CallName[]));
  let mixtures: readonly LaneState[] = [EMPTY];
  for (const name of names) {
    const variants = new Map(outcomes.map((outcome) => [keyOf(outcome[name]), outcome[name]]));
    mixtures = mixtures.flatMap((mixture) =>
      Array.from(variants.values(), (call) => (call === undefined ? mixture : { ...mixture, [name]: call })),
    );
  }
  return mixtures;
}

function keyOf(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "";
}

function ordersOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
