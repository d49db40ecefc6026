import type { UsageStats } from "../api/routes.ts";
import { toPicodollar } from "../format/usage.ts";

/** Dollars per million tokens, as typed. */
export interface PriceDraft {
  readonly prompt: string;
  readonly completion: string;
  readonly cacheRead: string;
  readonly cacheWrite: string;
}

/** Dollars per token; null: that of the input. */
export interface TokenPrices {
  readonly prompt: number;
  readonly completion: number;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
}

/** Undefined: it is no price yet. */
export function perToken({ prompt, completion, cacheRead, cacheWrite }: PriceDraft): TokenPrices | undefined {
  const [input, output] = [numberOf(prompt), numberOf(completion)];
  const [read, write] = [numberOf(cacheRead), numberOf(cacheWrite)];
  if (input === undefined || output === undefined) return undefined;
  if (input === null || output === null || read === undefined || write === undefined) return undefined;
  return { prompt: input, completion: output, cacheRead: read, cacheWrite: write };
}

/** Null: nothing was typed. Undefined: it is no number. */
function numberOf(text: string): number | null | undefined {
  if (text === "") return null;
  return /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) / 1e6 : undefined;
}

type Unpriced = NonNullable<UsageStats["unpriced"]>;

/** Cost of unpriced tokens at a draft price. */
export function addedUsd(unpriced: Unpriced, prices: TokenPrices): number {
  const usd = unpriced.reduce((sum, used) => {
    const { cache_read_input_tokens: read, cache_creation_input_tokens: write } = used;
    const uncached = isBeside(used) ? used.prompt_tokens : used.prompt_tokens - read - write;
    return (
      sum +
      uncached * prices.prompt +
      used.completion_tokens * prices.completion +
      read * (prices.cacheRead ?? prices.prompt) +
      write * (prices.cacheWrite ?? prices.prompt)
    );
  }, 0);
  return toPicodollar(usd);
}

/** More was cached than asked: the prompt does not include it. */
function isBeside(used: Unpriced[number]): boolean {
  return used.cache_read_input_tokens + used.cache_creation_input_tokens > used.prompt_tokens;
}

/** Nothing of it was cached, and nothing is charged by other units, so that there is one way to count it. */
export function isExact(unpriced: Unpriced): boolean {
  return unpriced.every(
    (used) =>
      used.cache_read_input_tokens + used.cache_creation_input_tokens === 0 &&
      Object.values(used.units).every((count) => count === 0),
  );
}
