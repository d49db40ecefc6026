import { LRUCache } from "lru-cache";
import {
  artifactOf,
  maxIdLength,
  modelNames,
  namesAt,
  listProviderOf,
  type ModelName,
} from "./model-names.ts";
import { listEntries, type ListedModel, type ListEntries, type ListSource } from "./list-entries.ts";

/** The public list prices. They only change with a release or with `PRICES_FILE`. */
export interface PriceList {
  readonly name: string;
  /**
   * The list's entry for an LLM id; null if it has none. If it is known who served the call, that takes precedence over the
   * id's form. Cost: up to 1 ms the first time, then a look-up.
   */
  find(llmId: string, provider?: string): ListedModel | null;
}

const maxRemembered = 5_000;

/**
 * A tag names a variant, which may cost something else: `deepseek-r1:7b` and `:latest` run on the user's own machine,
 * OpenRouter's `:nitro` is served by somebody else, `:step25` is trained further.
 */
const tag = /:[^/:]+$/;
/** Colons within a name: of fine-tuned models of OpenAI, and of Bedrock's versions. */
const ownColons = /^ft:|-v\d+(?::\d+k?)+$/i;

export function createPriceList(source: ListSource): PriceList {
  const entries = listEntries(source);
  const remembered = new LRUCache<string, { readonly entry: ListedModel | null }>({ max: maxRemembered });
  return {
    name: source.name,
    find(llmId, provider = "") {
      if (llmId.length > maxIdLength || artifactOf(llmId) !== undefined) return null;
      const key = provider === "" ? llmId : `${provider}\n${llmId}`;
      const known = remembered.get(key);
      if (known !== undefined) return known.entry;
      const entry = findAt(entries, llmId, provider);
      remembered.set(key, { entry });
      return entry;
    },
  };
}

function findAt(entries: ListEntries, llmId: string, provider: string): ListedModel | null {
  const seller = listProviderOf(provider);
  if (seller === undefined) return findIn(entries, llmId);
  for (const name of namesAt(seller.id, llmId)) {
    const entry = findListed(entries, name);
    if (entry !== null) return entry;
  }
  return seller.ownPrices ? null : findIn(entries, llmId);
}

function findIn(entries: ListEntries, llmId: string): ListedModel | null {
  for (const name of modelNames(llmId)) {
    const seller = name.seller ?? entries.sellerOf(name.id);
    // Without a provider, the list infers it from the name. If it cannot, the id may still belong to a single provider.
    const entry =
      findListed(entries, name) ?? (seller === name.seller ? null : findListed(entries, { ...name, seller }));
    if (entry !== null) return entry;
  }
  return null;
}

/** The list goes by how a name begins. */
function findListed(entries: ListEntries, name: ModelName): ListedModel | null {
  const entry = entries.find(name);
  const isVariant = tag.test(name.id) && !ownColons.test(name.id);
  return isVariant && entry?.model.toLowerCase() !== name.id.toLowerCase() ? null : entry;
}
