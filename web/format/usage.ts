import type { components } from "../api/schema.d.ts";

export type LlmUsage = components["schemas"]["LLMAggregatedUsage"];
export type UsageByLlm = Readonly<Record<string, LlmUsage>>;

/** Usage of a call, a trace or a window over all its models. */
export interface Total {
  readonly tokens: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly requests: number;
  /** Cost of the models with a known price; null if none has one. */
  readonly usd: number | null;
  /** Models that used something and have no price: what `usd` leaves out. */
  readonly unpriced: readonly string[];
}

export const NOTHING: Total = {
  tokens: 0,
  promptTokens: 0,
  completionTokens: 0,
  requests: 0,
  usd: 0,
  unpriced: [],
};

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
  const sum = new Sum();
  for (const { llm, usage } of entries) {
    sum.add(usage);
    if (!isPriced(usage)) sum.unpriced.add(llm);
    sum.addCost(costOf(usage), usage.total_tokens);
  }
  return sum.total();
}

export function sumOf(totals: readonly Total[]): Total {
  const sum = new Sum();
  for (const total of totals) {
    sum.add({
      requests: total.requests,
      prompt_tokens: total.promptTokens,
      completion_tokens: total.completionTokens,
      total_tokens: total.tokens,
    });
    for (const llm of total.unpriced) sum.unpriced.add(llm);
    sum.addCost(total.usd, total.tokens);
  }
  return sum.total();
}

type Counts = Pick<LlmUsage, "requests" | "prompt_tokens" | "completion_tokens" | "total_tokens">;

/** A running total. */
class Sum {
  readonly unpriced = new Set<string>();
  private readonly counts = { requests: 0, promptTokens: 0, completionTokens: 0, tokens: 0 };
  private usd: number | null = null;

  add({ requests, prompt_tokens, completion_tokens, total_tokens }: Counts): void {
    this.counts.requests += requests;
    this.counts.promptTokens += prompt_tokens;
    this.counts.completionTokens += completion_tokens;
    this.counts.tokens += total_tokens;
  }

  /** The total of nothing: no tokens, no cost, nothing without a price. */
  addCost(usd: number | null, tokens: number): void {
    if (usd !== null && (usd !== 0 || tokens !== 0)) this.usd = (this.usd ?? 0) + usd;
  }

  total(): Total {
    const usd = this.usd === null ? (this.unpriced.size > 0 ? null : 0) : toPicodollar(this.usd);
    return { ...this.counts, usd, unpriced: [...this.unpriced].toSorted() };
  }
}

/** The service counts in picodollars: finer digits come from adding up doubles. */
export function toPicodollar(usd: number): number {
  const picodollars = usd * 1e12;
  return Number.isSafeInteger(Math.round(picodollars)) ? Math.round(picodollars) / 1e12 : usd;
}
