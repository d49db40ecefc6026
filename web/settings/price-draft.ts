import type { UsageStats } from "../api/routes.ts";
import { toPicodollar } from "../format/usage.ts";

/** Prices of tokens, as the service names them and as they are shown. */
export const PRICES = [
  ["prompt_token_cost", "Input"],
  ["completion_token_cost", "Output"],
  ["cache_read_input_token_cost", "Cache read"],
  ["cache_creation_input_token_cost", "Cache write"],
] as const;

/** Dollars per token; null: that of the input. */
type TokenPrices = Readonly<Record<(typeof PRICES)[number][0], number | null>>;

/** Reads dollars per million tokens. Undefined: they are no prices yet. */
export function perToken(fields: Readonly<Record<string, string>>): TokenPrices | undefined {
  // a comma separates decimals too
  const typed = PRICES.map(([name]) => [name, fields[name]?.trim().replace(",", ".") ?? ""] as const);
  if (typed.slice(0, 2).some(([, text]) => text === "")) return undefined;
  if (typed.some(([, text]) => !(Number(text) >= 0))) return undefined;
  const prices = typed.map(([name, text]) => [name, text === "" ? null : Number(text) / 1e6]);
  return Object.fromEntries(prices) as TokenPrices;
}

type Unpriced = NonNullable<UsageStats["unpriced"]>;

/** Cost of unpriced tokens at a draft price. */
export function addedUsd(unpriced: Unpriced, prices: TokenPrices): number {
  const input = prices.prompt_token_cost ?? 0;
  const usd = unpriced.reduce((sum, used) => {
    const { cache_read_input_tokens: read, cache_creation_input_tokens: write } = used;
    // if more was cached than asked, the prompt does not include it
    const isBeside = read + write > used.prompt_tokens;
    const uncached = isBeside ? used.prompt_tokens : used.prompt_tokens - read - write;
    return (
      sum +
      uncached * input +
      used.completion_tokens * (prices.completion_token_cost ?? 0) +
      read * (prices.cache_read_input_token_cost ?? input) +
      write * (prices.cache_creation_input_token_cost ?? input)
    );
  }, 0);
  return toPicodollar(usd);
}

/** Nothing of it was cached, and nothing is charged by other units, so that there is one way to count it. */
export function isExact(unpriced: Unpriced): boolean {
  return unpriced.every(
    (used) =>
      used.cache_read_input_tokens + used.cache_creation_input_tokens === 0 &&
      Object.values(used.units).every((count) => count === 0),
  );
}
