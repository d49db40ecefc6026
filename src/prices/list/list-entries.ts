import { calcPrice, type MatchLogic, type Provider } from "@pydantic/genai-prices";
import { freeRates, ratesOfListedPrice } from "./built-in-rates.ts";
import { correctedSchedule } from "./corrected-schedule.ts";
import type { Adjustment, Correction } from "./corrections.ts";
import { adjusted, adjustedSchedule, adjustmentsOf } from "./list-adjustments.ts";
import type { ModelName } from "./model-names.ts";
import { priceGrid } from "../price-grid.ts";
import type { Schedule } from "../schedule.ts";

/** An entry of a price list and its prices over time. */
export interface ListedModel {
  /** Which list: `genai-prices 0.1.8`, or a file. */
  readonly list: string;
  readonly provider: string;
  readonly model: string;
  /** Tokens of prompt and output together; null if the list does not tell. */
  readonly contextWindow: number | null;
  readonly schedule: Schedule;
}

/** The entries of a price list by their names. */
export interface ListEntries {
  /** The entry for a name; null if there is none. Cost: up to 1 ms. */
  find(name: ModelName): ListedModel | null;
  /** The provider whose own id this is. */
  sellerOf(modelId: string): string | undefined;
}

/** A price list in the format of `@pydantic/genai-prices`. */
export interface ListSource {
  readonly name: string;
  readonly providers: readonly Provider[];
  readonly corrections: readonly Correction[];
}

/** Providers with model ids that nobody else uses, so an id alone identifies the provider. */
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

export function listEntries({ name: list, providers, corrections }: ListSource): ListEntries {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const sellers = sellersOf(byId);
  const corrected = new Map(
    corrections.flatMap((correction) =>
      correction.models.map((id) => [`${correction.provider}\n${id}`, correction] as const),
    ),
  );
  return {
    sellerOf: (modelId) => sellers.get(modelId.toLowerCase()),
    find({ id, seller }) {
      const wanted = id.toLowerCase().trim();
      const provider =
        seller === undefined
          ? providers.find(({ model_match: match }) => match !== undefined && matches(match, wanted))
          : byId.get(seller);
      if (provider === undefined) return null;
      const correction = corrected.get(`${provider.id}\n${wanted}`);
      const listed = listedModel(byId, provider, wanted);
      const entry = { list, provider: provider.id };
      if (correction === undefined) return listed && { ...entry, ...listed };
      const schedule = correctedSchedule(correction, listed?.schedule);
      const { model = wanted, contextWindow = null } = listed ?? {};
      return { ...entry, model, contextWindow, schedule };
    },
  };
}

function listedModel(
  byId: ReadonlyMap<string, Provider>,
  provider: Provider,
  id: string,
): Pick<ListedModel, "model" | "contextWindow" | "schedule"> | null {
  const found = priced(provider, id);
  if (found === null) {
    for (const fallback of provider.fallback_model_providers ?? []) {
      const next = byId.get(fallback);
      const entry = next === undefined ? null : listedModel(byId, withoutFallback(next), id);
      if (entry !== null) return entry;
    }
    return null;
  }
  const isFree = found.model.id.endsWith(":free");
  const scheduleWith = (adjustments: readonly Adjustment[]): Schedule =>
    priceGrid(found.model.prices, (atMs) => {
      const price = priced(provider, id, new Date(atMs));
      if (price === null) return null;
      return ratesOfListedPrice(adjusted(price.model_price, adjustments)) ?? (isFree ? freeRates : null);
    });
  const adjustments = adjustmentsOf({ id, provider: provider.id }, found.model.prices);
  return {
    model: found.model.id,
    contextWindow: found.model.context_window || null,
    schedule: adjustedSchedule(adjustments, scheduleWith),
  };
}

function priced(provider: Provider, id: string, timestamp?: Date): ReturnType<typeof calcPrice> {
  try {
    return calcPrice({}, id, {
      provider: withoutFallback(provider),
      ...(timestamp === undefined ? {} : { timestamp }),
    });
  } catch {
    // An entry that the library cannot price has no price.
    return null;
  }
}

/** The library would look for fallbacks in its own list, which may be a different one. */
function withoutFallback(provider: Provider): Provider {
  return { ...provider, fallback_model_providers: [] };
}

function sellersOf(byId: ReadonlyMap<string, Provider>): ReadonlyMap<string, string> {
  const sellers = new Map<string, string>();
  for (const providerId of namesAreTheirOwn) {
    for (const { id } of byId.get(providerId)?.models ?? []) {
      if (!id.includes("/") && !sellers.has(id.toLowerCase())) sellers.set(id.toLowerCase(), providerId);
    }
  }
  return sellers;
}

/** Whether a lower-case id matches a rule of the list. */
function matches(rule: MatchLogic, id: string): boolean {
  if ("or" in rule) return rule.or.some((one) => matches(one, id));
  if ("and" in rule) return rule.and.every((one) => matches(one, id));
  if ("equals" in rule) return id === rule.equals.toLowerCase();
  if ("starts_with" in rule) return id.startsWith(rule.starts_with.toLowerCase());
  if ("ends_with" in rule) return id.endsWith(rule.ends_with.toLowerCase());
  if ("contains" in rule) return id.includes(rule.contains.toLowerCase());
  return new RegExp(rule.regex).test(id);
}
