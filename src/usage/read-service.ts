import { isJsonObject } from "../shared/json.ts";
import type { Service } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** Longer names are nobody's. */
const MAX_NAME_LENGTH = 64;
/** Google spells names of enumerations out. */
const PROTO_PREFIX = /^(?:service_tier|traffic_type)_/;
/** Tiers that are the list price wherever they are served: nothing needs to be kept of them. */
const USUAL = new Set(["default", "auto", "standard", "on_demand", "not_available", "unspecified"]);

/** A tier as it is kept: in lower case, '' for the usual one. */
export function tierNamed(name: unknown): string {
  const tier = nameOf(name).replaceAll("-", "_").replace(PROTO_PREFIX, "");
  return USUAL.has(tier) ? "" : tier;
}

function nameOf(value: unknown): string {
  return typeof value === "string" ? value.trim().toLowerCase().slice(0, MAX_NAME_LENGTH).toWellFormed() : "";
}

/**
 * Who served what an entry of usage, or an answer, tells of, and at which tier; undefined where it says nothing of
 * either. Anthropic's fast mode and inference in one country cost more, as tiers do; Perplexity's fee depends on how much
 * of the web it read.
 */
export function readService(entry: Json): Service | undefined {
  return serviceOf(entry["provider"], [
    tierNamed(
      tierText(
        entry["service_tier"] ?? entry["serviceTier"] ?? entry["trafficType"] ?? entry["traffic_type"],
      ),
    ),
    entry["speed"] === "fast" ? "fast" : "",
    entry["inference_geo"] === "us" ? "us_only" : "",
    isContextSize(entry["search_context_size"]) ? `${entry["search_context_size"]}_context` : "",
  ]);
}

/** Of a high one nothing needs to be kept: it is the list price. */
function isContextSize(size: unknown): size is "low" | "medium" {
  return size === "low" || size === "medium";
}

/** Several things that change the price are one tier of several names. */
export function serviceOf(provider: unknown, tiers: readonly string[]): Service | undefined {
  const service = { provider: nameOf(provider), tier: tiers.filter((tier) => tier !== "").join("+") };
  return service.provider === "" && service.tier === "" ? undefined : service;
}

/** Bedrock says `{"type": "priority"}`. */
function tierText(said: unknown): unknown {
  return isJsonObject(said) ? said["type"] : said;
}
