import type { Project } from "../shared/project.ts";
import { createBuiltInPrices } from "./list/built-in-prices.ts";
import type { CostOf } from "./cost-of-call.ts";
import { listProviderOf } from "./list/model-names.ts";
import { createPriceBook, type BookOptions, type PriceBook } from "./price-book.ts";
import type { PriceList } from "./list/price-list.ts";
import type { PriceStore } from "./project/price-store.ts";
import { projectSchedules } from "./project/project-prices.ts";

/** All prices: those that projects set, and the public list as fallback. One per process. */
export interface Prices {
  /** The current prices of a project. Cost: one small query; the book itself runs none. */
  bookFor(project: Project): Promise<PriceBook>;
  /**
   * The provider of an LLM, as named by the public list: who served it, if known, or else the list's provider. Null if
   * unknown.
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
      listProviderOf(servedBy)?.id ?? (servedBy || (builtIn.find(llmId)?.provider ?? null)),
    async bookFor(project) {
      return createPriceBook({
        ...options,
        builtIn,
        project: projectSchedules(await store.all(project)),
      });
    },
  };
}

/** The cost of a call by the prices its project has when this is called. */
export function costsBy(prices: Prices): (project: Project) => Promise<CostOf> {
  return async (project) => {
    const book = await prices.bookFor(project);
    return (usage, startedAtUs) => book.cost(usage.llm, startedAtUs, usage);
  };
}
