import type { Project } from "../shared/project.ts";
import { createBuiltInPrices } from "./built-in-prices.ts";
import type { CostOf } from "./cost-of-call.ts";
import { sellerNamed } from "./model-names.ts";
import { createPriceBook, type BookOptions, type PriceBook } from "./price-book.ts";
import type { PriceList } from "./price-list.ts";
import type { PriceStore } from "./price-store.ts";
import { projectSchedules } from "./project-prices.ts";

/** All prices: what projects have set, and the public list behind them. One per process. */
export interface Prices {
  /** The prices of a project as they stand now. Cost: one small query; the book itself asks nothing more. */
  bookFor(project: Project): Promise<PriceBook>;
  /**
   * Who sells an LLM, as the public list names it: who served it, where that is known, else whoever the list has it from.
   * Null when nobody knows.
   */
  providerOf(llmId: string, servedBy?: string): string | null;
}

export interface PricesOptions extends Pick<BookOptions, "onUnknown"> {
  readonly list: PriceList;
}

export function createPrices(store: PriceStore, { list, ...options }: PricesOptions): Prices {
  const builtIn = createBuiltInPrices(list);
  return {
    providerOf: (llmId, servedBy = "") =>
      sellerNamed(servedBy)?.id ?? (servedBy || (builtIn.find(llmId)?.provider ?? null)),
    async bookFor(project) {
      return createPriceBook({
        ...options,
        builtIn,
        project: projectSchedules(await store.all(project)),
      });
    },
  };
}

/** What a call costs, by the prices of its project as they stand when this is asked. */
export function costsBy(prices: Prices): (project: Project) => Promise<CostOf> {
  return async (project) => {
    const book = await prices.bookFor(project);
    return (usage, startedAtMs) => book.cost(usage.llm, startedAtMs, usage);
  };
}
