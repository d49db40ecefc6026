import { calcPrice, findProvider } from "@pydantic/genai-prices";
import { LRUCache } from "lru-cache";
import { freeRates, ratesOfListedPrice } from "./built-in-rates.ts";
import { maxIdLength, modelNames, type ModelName } from "./model-names.ts";
import { priceGrid } from "./price-grid.ts";
import type { Rates, Schedule } from "./rates.ts";

/** The public list prices that come with the service. They change with a release, never by themselves. */
export interface BuiltInPrices {
  /** The prices of an LLM id over time; null when the list does not know it. Cost: up to 1 ms at first, then a look-up. */
  scheduleOf(llmId: string): Schedule | null;
}

const maxRemembered = 5_000;

/** Ollama names open models with their size: `deepseek-r1:7b` runs on somebody's own machine. */
const ollamaTag = /:\d+(?:\.\d+)?b$/i;

/** Providers whose model ids are their own, so that an id alone tells who was paid. */
const namesAreTheirOwn = [
  "openai",
  "anthropic",
  "google",
  "mistral",
  "cohere",
  "deepseek",
  "x-ai",
  "perplexity",
  "moonshotai",
  "minimax",
  "zai",
  "voyageai",
  "groq",
] as const;

export function createBuiltInPrices(): BuiltInPrices {
  const remembered = new LRUCache<string, { readonly schedule: Schedule | null }>({ max: maxRemembered });
  const sellerById = listedSellers();
  return {
    scheduleOf(llmId) {
      if (llmId.length > maxIdLength || ollamaTag.test(llmId)) return null;
      const known = remembered.get(llmId);
      if (known !== undefined) return known.schedule;
      const schedule = findSchedule(llmId, sellerById);
      remembered.set(llmId, { schedule });
      return schedule;
    },
  };
}

function findSchedule(llmId: string, sellerById: ReadonlyMap<string, string>): Schedule | null {
  for (const name of modelNames(llmId)) {
    const seller = name.seller ?? sellerById.get(name.id.toLowerCase());
    // Without a seller the library infers it from the name; where it can not, the id may still be one seller's own.
    const schedule =
      scheduleOfName(name) ?? (seller === name.seller ? null : scheduleOfName({ ...name, seller }));
    if (schedule !== null) return schedule;
  }
  return null;
}

function scheduleOfName(name: ModelName): Schedule | null {
  const found = listed(name);
  if (found === null) return null;
  const isFree = found.model.id.endsWith(":free");
  const ratesAt = (atMs: number): Rates | null => {
    const price = listed(name, new Date(atMs));
    if (price === null) return null;
    return ratesOfListedPrice(price.model_price) ?? (isFree ? freeRates : null);
  };
  return priceGrid(found.model.prices, ratesAt);
}

function listed(name: ModelName, timestamp?: Date): ReturnType<typeof calcPrice> {
  try {
    return calcPrice({}, name.id, {
      ...(name.seller === undefined ? {} : { providerId: name.seller }),
      ...(timestamp === undefined ? {} : { timestamp }),
    });
  } catch {
    // An entry the library can not price is an entry without a price.
    return null;
  }
}

function listedSellers(): ReadonlyMap<string, string> {
  const sellers = new Map<string, string>();
  for (const providerId of namesAreTheirOwn) {
    for (const model of findProvider({ providerId })?.models ?? []) {
      const id = model.id.toLowerCase();
      if (!id.includes("/") && !sellers.has(id)) sellers.set(id, providerId);
    }
  }
  return sellers;
}
