import type { components } from "../api/schema.d.ts";

export type LlmUsage = components["schemas"]["LLMAggregatedUsage"];
export type UsageByLlm = Readonly<Record<string, LlmUsage>>;

/** Usage of a call, a trace or a window over all its models. */
export interface Total {
  readonly tokens: number;
  /** Cost of the models with a known price; null if none has one. */
  readonly usd: number | null;
  /** Models that used something and have no price: what `usd` leaves out. */
  readonly unpriced: readonly string[];
}

export const COUNTS = [
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;
export const COSTS = [
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

/** Everything of it has a price. */
export function isPriced(usage: LlmUsage): boolean {
  return usage.partial !== true;
}

export interface UsageEntry {
  readonly llm: string;
  readonly usage: LlmUsage;
}

export function totalOf(byLlm: UsageByLlm): Total {
  return sumOfEntries(Object.entries(byLlm).map(([llm, usage]) => ({ llm, usage })));
}

/** Null costs are left out, and their models named in `unpriced`; the sum is null only when nothing of it has a price. */
export function sumOfEntries(entries: Iterable<UsageEntry>): Total {
  const unpriced = new Set<string>();
  let tokens = 0;
  let usd: number | null = null;
  for (const { llm, usage } of entries) {
    tokens += usage.total_tokens;
    if (!isPriced(usage)) unpriced.add(llm);
    const cost = costOf(usage);
    // what used nothing says nothing about prices
    if (cost !== null && (cost !== 0 || usage.total_tokens !== 0)) usd = (usd ?? 0) + cost;
  }
  usd ??= unpriced.size > 0 ? null : 0;
  return { tokens, usd: usd && toPicodollar(usd), unpriced: [...unpriced].toSorted() };
}

/** The service counts in picodollars: finer digits come from adding up doubles. */
export function toPicodollar(usd: number): number {
  const picodollars = usd * 1e12;
  return Number.isSafeInteger(Math.round(picodollars)) ? Math.round(picodollars) / 1e12 : usd;
}
