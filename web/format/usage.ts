import type { components } from "../api/schema.d.ts";

type LlmUsage = components["schemas"]["LLMAggregatedUsage"];
export type UsageByLlm = Readonly<Record<string, LlmUsage>>;

/** Usage of a call or a trace over all its models. */
export interface Total {
  readonly tokens: number;
  /** Cost of the models with a known price; null if none has one. */
  readonly usd: number | null;
  /** Models that used something and have no price: what `usd` leaves out. */
  readonly unpriced: readonly string[];
}

const COSTS = [
  "prompt_tokens_total_cost",
  "completion_tokens_total_cost",
  "cache_read_input_tokens_total_cost",
  "cache_creation_input_tokens_total_cost",
  "other_cost",
] as const;

/** The sum of those that are known; null if none is. */
export function costOf(usage: LlmUsage): number | null {
  let sum: number | null = null;
  for (const name of COSTS) {
    const cost = usage[name];
    if (cost != null) sum = (sum ?? 0) + cost;
  }
  return sum;
}

/** Null costs are left out, and their models named in `unpriced`; the sum is null only when nothing of it has a price. */
export function sumOf(totals: Iterable<Total>): Total {
  let [tokens, usd]: [number, number | null] = [0, null];
  const unpriced = new Set<string>();
  for (const one of totals) {
    tokens += one.tokens;
    // a price of nothing is no price of the rest
    if (one.usd !== null && (one.usd !== 0 || one.tokens !== 0)) usd = (usd ?? 0) + one.usd;
    for (const llm of one.unpriced) unpriced.add(llm);
  }
  usd ??= unpriced.size > 0 ? null : 0;
  return { tokens, usd: usd === null ? null : toPicodollar(usd), unpriced: [...unpriced].toSorted() };
}

/** The service counts in picodollars: finer digits come from adding up doubles. */
export function toPicodollar(usd: number): number {
  const picodollars = usd * 1e12;
  return Number.isSafeInteger(Math.round(picodollars)) ? Math.round(picodollars) / 1e12 : usd;
}
