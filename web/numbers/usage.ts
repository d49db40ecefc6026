import type { components } from "../api/schema.d.ts";

export type LlmUsage = components["schemas"]["LLMAggregatedUsage"];
export type UsageByLlm = Readonly<Record<string, LlmUsage>>;

/** What a call, a trace or a window used, over all its models. */
export interface Total {
  readonly tokens: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly requests: number;
  /** Of the models whose price is known; null when it is of none. */
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
] as const;

/** Null when one of them is not known. */
export function costOf(usage: LlmUsage): number | null {
  const costs = COSTS.map((name) => usage[name]).filter((cost) => cost !== null);
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
}

export function isPriced(usage: LlmUsage): boolean {
  return COSTS.every((name) => usage[name] !== null);
}

export function totalOf(byLlm: UsageByLlm): Total {
  return sumOf(Object.entries(byLlm).map(([llm, usage]) => totalOfLlm(llm, usage)));
}

function totalOfLlm(llm: string, usage: LlmUsage): Total {
  return {
    tokens: usage.total_tokens,
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    requests: usage.requests,
    usd: costOf(usage),
    unpriced: isPriced(usage) ? [] : [llm],
  };
}

/** Null costs are left out, and named in `unpriced`; null only when nothing of it has a price. */
export function sumOf(totals: readonly Total[]): Total {
  if (totals.length === 1) return totals[0] ?? NOTHING;
  const sum = { tokens: 0, promptTokens: 0, completionTokens: 0, requests: 0 };
  const unpriced = new Set<string>();
  const costs: number[] = [];
  for (const total of totals) {
    sum.tokens += total.tokens;
    sum.promptTokens += total.promptTokens;
    sum.completionTokens += total.completionTokens;
    sum.requests += total.requests;
    // what used nothing costs nothing, and prices nothing
    if (total.usd !== null && !(total.usd === 0 && total.tokens === 0)) costs.push(total.usd);
    for (const llm of total.unpriced) unpriced.add(llm);
  }
  const usd = costs.length === 0 && unpriced.size > 0 ? null : costs.reduce((all, cost) => all + cost, 0);
  return { ...sum, usd, unpriced: [...unpriced].toSorted() };
}
