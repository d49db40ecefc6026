import { picodollars } from "./picodollars.ts";
import type { Rates, Schedule } from "./rates.ts";

/** A price that a project has set. Costs in USD per token. */
export interface ProjectPrice {
  readonly id: string;
  readonly llm_id: string;
  /** Milliseconds since the epoch. */
  readonly effectiveAtMs: number;
  readonly createdAtMs: number;
  readonly prompt_token_cost: number;
  readonly completion_token_cost: number;
  /** `null`: not set, so that the prompt price holds. */
  readonly cache_read_input_token_cost: number | null;
  readonly cache_creation_input_token_cost: number | null;
}

/** A project's own prices, by the LLM id they were set for. */
export type ProjectSchedules = ReadonlyMap<string, Schedule>;

/** Of several prices of one LLM the one with the latest date holds; of the same date, the one set last. */
export function projectSchedules(prices: readonly ProjectPrice[]): ProjectSchedules {
  const byLlm = Map.groupBy(prices, (price) => price.llm_id);
  return new Map([...byLlm].map(([llmId, own]) => [llmId, datedSchedule(own)]));
}

function datedSchedule(prices: readonly ProjectPrice[]): Schedule {
  const periods = prices.toSorted(byPrecedence).map((price) => ({
    fromMs: price.effectiveAtMs,
    rates: ratesOfProjectPrice(price),
  }));
  return {
    ratesAt(atMs) {
      let low = 0;
      let high = periods.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (periods[middle]!.fromMs <= atMs) low = middle + 1;
        else high = middle;
      }
      return periods[low - 1]?.rates ?? null;
    },
  };
}

function byPrecedence(left: ProjectPrice, right: ProjectPrice): number {
  return (
    left.effectiveAtMs - right.effectiveAtMs ||
    left.createdAtMs - right.createdAtMs ||
    (left.id < right.id ? -1 : 1)
  );
}

function ratesOfProjectPrice(price: ProjectPrice): Rates {
  const prompt = price.prompt_token_cost;
  return {
    base: {
      prompt: picodollars(prompt, 1),
      completion: picodollars(price.completion_token_cost, 1),
      cacheRead: picodollars(price.cache_read_input_token_cost ?? prompt, 1),
      cacheCreation: picodollars(price.cache_creation_input_token_cost ?? prompt, 1),
    },
    tiers: [],
  };
}
