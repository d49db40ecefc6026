import { isJsonObject } from "../shared/json.ts";
import type { Service } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** No provider or tier has a longer name. */
const MAX_NAME_LENGTH = 64;
/** Google spells names of enumerations out. */
const PROTO_PREFIX = /^(?:service_tier|traffic_type)_/;
const TIER_OF_TOKENS = /^(priority|flex|[a-z]+(?=_cache_(?:read|creation)))(?:_|$)/;
/** Tiers that cost the list price at every provider, so they are not stored. */
const USUAL = new Set(["default", "auto", "standard", "on_demand", "not_available", "unspecified"]);

/** A tier as stored: in lower case, '' for the standard one. */
export function tierNamed(name: unknown): string {
  const given = nameOf(name);
  if (given === "") return "";
  const tier = given.replaceAll("-", "_").replace(PROTO_PREFIX, "");
  return USUAL.has(tier) ? "" : tier;
}

function nameOf(value: unknown): string {
  return typeof value === "string" ? value.trim().toLowerCase().slice(0, MAX_NAME_LENGTH).toWellFormed() : "";
}

/**
 * The provider and tier that a usage entry or a response reports; undefined if it reports neither. Anthropic's fast mode
 * and inference in one country cost more, so they count as tiers; Perplexity's fee depends on its search context.
 */
export function readService(entry: Json): Service | undefined {
  return serviceOf(entry["provider"], [
    tierNamed(
      tierText(
        entry["service_tier"] ??
          entry["serviceTier"] ??
          entry["trafficType"] ??
          entry["traffic_type"] ??
          tierInDetails(entry["input_token_details"]),
      ),
    ),
    entry["speed"] === "fast" ? "fast" : "",
    entry["inference_geo"] === "us" ? "us_only" : "",
    isContextSize(entry["search_context_size"]) ? `${entry["search_context_size"]}_context` : "",
  ]);
}

/** LangChain names tokens by the tier that served them: `flex`, `flex_cache_read`. */
function tierInDetails(details: unknown): unknown {
  if (!isJsonObject(details)) return undefined;
  const names = Object.keys(details).filter((name) => details[name] != null);
  return names.map((name) => TIER_OF_TOKENS.exec(name)?.[1]).find((tier) => tier !== undefined);
}

/** A high one is the list price, so it is not stored. */
function isContextSize(size: unknown): size is "low" | "medium" {
  return size === "low" || size === "medium";
}

/** Several things that change the price form one tier with several names. */
export function serviceOf(provider: unknown, tiers: readonly string[]): Service | undefined {
  const service = { provider: nameOf(provider), tier: tiers.filter((tier) => tier !== "").join("+") };
  return service.provider === "" && service.tier === "" ? undefined : service;
}

/** Bedrock says `{"type": "priority"}`. */
function tierText(said: unknown): unknown {
  return isJsonObject(said) ? said["type"] : said;
}
