import type { UsedByModel } from "../../budgets/hold.ts";
import { attodollarsOf } from "../../prices/money.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { readUsage } from "../../usage/read-usage.ts";
import type { EndedCompletion } from "./recorded-completion.ts";

/** Returns what the record of a completion will count and cost, by model. What has no price costs 0. */
export function usedByModel(
  { summary, output, startedAtMs }: Pick<EndedCompletion, "summary" | "output" | "startedAtMs">,
  book: PriceBook,
): UsedByModel {
  return readUsage(summary, output).map((usage) => {
    const cost = book.cost(usage.llm, startedAtMs * 1000, usage);
    const parts = Object.values(cost).map((part) => attodollarsOf(part ?? 0));
    return {
      llm: usage.llm,
      usd: parts.reduce((sum, part) => sum + part, 0n),
      tokens: usage.totalTokens,
      requests: usage.requests,
    };
  });
}
