import { isDeepStrictEqual } from "node:util";
import type { Names } from "./answers.ts";
import { ALL_CALLS, type CallName } from "./messages.ts";
import { afterAtOnce, EMPTY, type Change, type LaneState } from "./state.ts";
import { idOf, isTraceless, traceOf } from "./wire.ts";

/** The calls of one sequence, and every state they may be in. */
export class Lane {
  readonly name: string;
  readonly names: Names = {
    id: (name) => idOf(this.name, name),
    trace: (name) => this.#traces.get(name) ?? traceOf(this.name, name),
  };
  readonly ids: ReadonlyMap<string, CallName>;
  #states: readonly LaneState[] = [EMPTY];
  /** Trace ids that the service returned for calls without one. */
  readonly #traces = new Map<CallName, string>();

  constructor(name: string) {
    this.name = name;
    this.ids = new Map(ALL_CALLS.map((one) => [idOf(name, one), one]));
  }

  /** One of the states it may be in. */
  get someState(): LaneState {
    return this.#states[0]!;
  }

  /** Follows what is sent at the same time. */
  change(changes: readonly Change[]): void {
    this.#states = afterAtOnce(this.#states, changes, this.isSameTrace);
  }

  /** Its project is deleted, or will be meanwhile: a call that names no trace may get another one. */
  forgetTraces(): void {
    this.#traces.clear();
  }

  readonly isSameTrace = (one: CallName, other: CallName): boolean =>
    this.names.trace(one) === this.names.trace(other);

  /** Keeps the states in which the answer is as observed. Errors: when there is none. */
  narrow(what: string, observed: unknown, expected: (state: LaneState) => unknown): void {
    const left = this.#states.filter((state) => isDeepStrictEqual(expected(state), observed));
    if (left.length === 0) {
      const wanted = this.#states.map((state) => JSON.stringify(expected(state)));
      throw new Error(
        `${this.name}: ${what}\n  expected ${wanted.join("\n  or       ")}\n  got      ${JSON.stringify(observed)}`,
      );
    }
    this.#states = left;
  }

  /**
   * Holds a start to the trace that it was answered. One that names none has that of its parent, when that has
   * started, and the same one every time. `before`: how the lane was when it was sent.
   */
  tellTrace(start: { id: CallName; parent: CallName | null; told: unknown; before: LaneTrace }): void {
    const { id, parent, told, before } = start;
    const expected = isTraceless(id)
      ? (before.traceOf(id) ?? (parent === null ? undefined : before.traceOf(parent)))
      : traceOf(this.name, id);
    if (expected !== undefined && told !== expected)
      throw new Error(`${this.name}: trace of ${id}\n  expected ${expected}\n  got      ${String(told)}`);
    if (isTraceless(id)) this.#traces.set(id, String(told));
  }

  /** Returns the calls known now, for later checks. */
  knownTraces(): LaneTrace {
    const isStarted = (name: CallName): boolean =>
      this.#states.every((state) => state[name]?.started === true);
    const known = new Map(
      ALL_CALLS.flatMap((name) => (isStarted(name) ? [[name, this.names.trace(name)] as const] : [])),
    );
    return { traceOf: (name) => known.get(name) };
  }
}

/** The traces of the calls that have started in every state. */
interface LaneTrace {
  readonly traceOf: (name: CallName) => string | undefined;
}
