import type { Project } from "../shared/project.ts";
import type { CostOf } from "./cost-of-call.ts";
import { listProviderOf } from "./list/model-names.ts";
import { createPriceBook, type BookOptions, type PriceBook } from "./price-book.ts";
import type { PriceStore } from "./project/price-store.ts";
import { projectSchedules, type ProjectPrice } from "./project/project-prices.ts";

/** All prices: those that projects set, and the public list as fallback. One per process. */
export interface Prices {
  /** The current prices of a project. Cost: one small query; the book itself runs none. */
  bookFor(project: Project): Promise<PriceBook>;
  /** The same book for all requests while the project's prices stay, for a few look-ups each; reports no unknown price. */
  sharedBookFor(project: Project): Promise<PriceBook>;
  /**
   * The provider of an LLM, as named by the public list: who served it, if known, or else the list's provider. Null if
   * unknown.
   */
  providerOf(llmId: string, servedBy?: string): string | null;
}

export type PricesOptions = Omit<BookOptions, "project">;

export function createPrices(store: PriceStore, options: PricesOptions): Prices {
  const shared = new WeakMap<readonly ProjectPrice[], PriceBook>();
  return {
    providerOf: (llmId, servedBy = "") =>
      listProviderOf(servedBy)?.id ?? (servedBy || (options.list.find(llmId)?.provider ?? null)),
    async sharedBookFor(project) {
      const prices = await store.all(project);
      const book =
        shared.get(prices) ?? createPriceBook({ list: options.list, project: projectSchedules(prices) });
      shared.set(prices, book);
      return book;
    },
    async bookFor(project) {
      return createPriceBook({ ...options, project: projectSchedules(await store.all(project)) });
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
