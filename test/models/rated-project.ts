import type { Rating } from "./ratings.ts";

type Tokens = Readonly<Record<string, { readonly prompt: number; readonly completion: number }>>;

/** A call as a test writes it. */
export interface WrittenCall {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly startedMs: number;
  readonly fields: Readonly<Record<"op_name" | "thread_id" | "attributes.tenant", string | null>>;
  /** Whether it reports the usage below it too, as the Weave SDKs do. */
  readonly wraps: boolean;
  /** As reported; nothing while it runs. */
  readonly usage: Tokens;
}

/** Picodollars by prompt and completion token; other models have no price. */
const PRICES: Tokens = {
  "gpt-4o": { prompt: 2_500_000, completion: 10_000_000 },
  "claude-sonnet-4-5": { prompt: 3_000_000, completion: 15_000_000 },
};
const PROVIDERS: Readonly<Record<string, string>> = { "gpt-4o": "openai", "claude-sonnet-4-5": "anthropic" };

/** One that a response counts as rated: a call, or a trace by its root. */
export interface RatedOne {
  readonly startedMs: number;
  readonly key: Readonly<Record<string, string | null>>;
  readonly passed: boolean;
  /** Usage of the call or the trace, of each call apart. */
  readonly used: readonly Tokens[];
}

/** The rated calls, or traces, of calls that are there. `isSelected`: of the call, or the root. */
export function ratedAmong(
  calls: readonly WrittenCall[],
  ratings: ReadonlyMap<string, Rating>,
  { of, isSelected }: { of: "calls" | "traces"; isSelected: (call: WrittenCall) => boolean },
): readonly RatedOne[] {
  const own = ownUsage(calls);
  const firsts = [...Map.groupBy(calls, ({ id }) => id).values()].map((some) => some.toSorted(byTrace)[0]!);
  const rated = firsts.filter((call) => ratings.has(call.id) && isSelected(call));
  const roots = Map.groupBy(
    calls.filter(({ parent }) => parent === null),
    ({ trace }) => trace,
  );
  const isRoot = (call: WrittenCall) => roots.get(call.trace)?.toSorted(byId)[0] === call;
  return rated
    .filter((call) => of === "calls" || isRoot(call))
    .map((call) => {
      const { startedMs, fields, id } = call;
      const llm = mostUsed(own.get(call)!);
      const key = { ...fields, llm, provider: llm === null ? null : (PROVIDERS[llm] ?? null) };
      const whole = of === "calls" ? [call] : calls.filter(({ trace }) => trace === call.trace);
      return { startedMs, key, passed: ratings.get(id)!.passed, used: whole.map((one) => own.get(one)!) };
    });
}

/** The members that they add to a total. */
export function outcomeOf(rated: readonly RatedOne[]) {
  const passed = rated.filter((one) => one.passed).length;
  const cost = costOf(rated.flatMap(({ used }) => used));
  const costPerPassed = passed === 0 || cost === null ? null : cost / 1e12 / passed;
  return { rated: rated.length, passed, cost_per_passed: costPerPassed };
}

function byTrace(one: WrittenCall, other: WrittenCall): number {
  return one.startedMs - other.startedMs || (one.trace < other.trace ? -1 : 1);
}

function byId(one: WrittenCall, other: WrittenCall): number {
  return one.startedMs - other.startedMs || (one.id < other.id ? -1 : 1);
}

/** Own usage of each call: that of a wrapper without the usage of the calls below it. */
function ownUsage(calls: readonly WrittenCall[]): ReadonlyMap<WrittenCall, Tokens> {
  const own = new Map<WrittenCall, Tokens>();
  const children = Map.groupBy(calls, ({ trace, parent }) => `${trace} ${parent}`);
  const totalOf = (call: WrittenCall): Tokens => {
    const below = (children.get(`${call.trace} ${call.id}`) ?? []).map(totalOf).reduce(plus, {});
    const mine = call.wraps ? minus(call.usage, below) : call.usage;
    own.set(call, mine);
    return plus(mine, below);
  };
  const ids = new Set(calls.map(({ trace, id }) => `${trace} ${id}`));
  for (const call of calls) if (!ids.has(`${call.trace} ${call.parent}`)) totalOf(call);
  return own;
}

export function plus(one: Tokens, other: Tokens): Tokens {
  return combine(one, other, (left, right) => left + right);
}

function minus(one: Tokens, other: Tokens): Tokens {
  return combine(one, other, (left, right) => Math.max(0, left - right));
}

function combine(one: Tokens, other: Tokens, of: (left: number, right: number) => number): Tokens {
  const none = { prompt: 0, completion: 0 };
  const llms = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(
    llms.map((llm) => {
      const [left, right] = [one[llm] ?? none, other[llm] ?? none];
      const both = {
        prompt: of(left.prompt, right.prompt),
        completion: of(left.completion, right.completion),
      };
      return [llm, both];
    }),
  );
}

function mostUsed(tokens: Tokens): string | null {
  const used = Object.entries(tokens)
    .map(([llm, { prompt, completion }]) => ({ llm, total: prompt + completion }))
    .filter(({ total }) => total > 0)
    .toSorted((one, other) => other.total - one.total);
  return used[0]?.llm ?? null;
}

/** In picodollars: 0 without usage, null if none of it has a price. */
function costOf(used: readonly Tokens[]): number | null {
  const all = used
    .flatMap((tokens) => Object.entries(tokens))
    .filter(([, { prompt, completion }]) => prompt + completion > 0);
  const known = all.flatMap(([llm, { prompt, completion }]) => {
    const price = PRICES[llm];
    return price === undefined ? [] : [prompt * price.prompt + completion * price.completion];
  });
  return known.length === 0 && all.length > 0 ? null : known.reduce((sum, cost) => sum + cost, 0);
}
