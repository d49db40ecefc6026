import { CALLS, DAY_MS, HOUR_MS, KEPT_DAYS, SPANS } from "./steps.ts";

/** Midnight: what is older than a day is decided by whole days. */
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** Hours beside each other, days and months apart, on both sides of what is kept. */
const OLDEST_KEPT = TODAY - KEPT_DAYS * DAY_MS;
const INSTANTS_MS = [
  TODAY - 2 * DAY_MS,
  TODAY - 2 * DAY_MS + HOUR_MS,
  OLDEST_KEPT,
  OLDEST_KEPT - 1,
  TODAY - 9 * DAY_MS + 5,
  TODAY - 61 * DAY_MS,
] as const;
export const WINDOW = [TODAY - 100 * DAY_MS, TODAY + DAY_MS] as const;
/** Instants that windows may begin and end at. */
export const EDGES = [...INSTANTS_MS, ...INSTANTS_MS.map((at) => at + 1), ...WINDOW];

interface Call {
  readonly startedMs: number | undefined;
  readonly endedMs: number | undefined;
  readonly tokens: number;
  readonly name: string | null;
  readonly deleted: boolean;
}

export interface LiveCall extends Call {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly startedMs: number;
}

export function startOf({ at }: { at: number }): number {
  return INSTANTS_MS[at]!;
}

/** Where a call is, whatever is said of it. */
export function keyOf(kind: "call" | "span", n: number): Pick<LiveCall, "id" | "trace" | "parent"> {
  const of = kind === "call" ? `c-${n}` : n.toString(16).padStart(16, "a");
  const trace = kind === "call" ? `t-${n % 3}` : String(n % 2).padStart(32, "b");
  const before = n - (kind === "call" ? 3 : 2);
  const parent = before < 0 ? null : kind === "call" ? `c-${before}` : before.toString(16).padStart(16, "a");
  return { id: of, trace, parent };
}

/** Whether it was sent with attributes of its own. */
export function isNoSpan({ id }: { readonly id: string }): boolean {
  return id.startsWith("c-");
}

const KEYS = [
  ...Array.from({ length: CALLS }, (_, n) => keyOf("call", n)),
  ...Array.from({ length: SPANS }, (_, n) => keyOf("span", n)),
];
export const ALL_IDS = KEYS.map(({ id }) => id);
export const ALL_TRACES = [...new Set(KEYS.map(({ trace }) => trace))];

const UNSAID: Call = { startedMs: undefined, endedMs: undefined, tokens: 0, name: null, deleted: false };

/** What a project holds. */
export class Model {
  readonly #calls: Map<string, Call>;
  feedback: number;

  constructor(from?: Model) {
    this.#calls = new Map(from?.all() ?? []);
    this.feedback = from?.feedback ?? 0;
  }

  all(): ReadonlyMap<string, Call> {
    return this.#calls;
  }

  /** What a message says is so from now on, also of a call that has not started, and of a deleted one. */
  say(id: string, said: Partial<Call>): void {
    this.#calls.set(id, { ...(this.#calls.get(id) ?? UNSAID), ...said });
  }

  /** A call that has ended without its start waits for it: it is not there yet. */
  has(id: string): boolean {
    return this.live().some((call) => call.id === id);
  }

  delete(id: string): void {
    const doomed = new Set(this.has(id) ? [id] : []);
    // a set that grows while it is walked
    for (const one of doomed) for (const call of this.live()) if (call.parent === one) doomed.add(call.id);
    for (const one of [id, ...doomed]) this.say(one, { deleted: true });
  }

  deleteProject(): void {
    this.#calls.clear();
    this.feedback = 0;
  }

  /** A call is as old as its start says. */
  expire(): void {
    for (const [id, call] of this.#calls) {
      if (call.startedMs !== undefined && call.startedMs < OLDEST_KEPT) this.#calls.delete(id);
    }
  }

  /** Oldest first. */
  live(): readonly LiveCall[] {
    return KEYS.flatMap((key): LiveCall[] => {
      const call = this.#calls.get(key.id);
      return call?.startedMs === undefined || call.deleted
        ? []
        : [{ ...key, ...call, startedMs: call.startedMs }];
    }).toSorted((a, b) => a.startedMs - b.startedMs || (a.id < b.id ? -1 : 1));
  }

  tokensBelow(id: string): number {
    const live = this.live();
    const own = live.find((call) => call.id === id)?.tokens ?? 0;
    return live.reduce((sum, call) => sum + (call.parent === id ? this.tokensBelow(call.id) : 0), own);
  }
}
