import { isJsonObject } from "../../shared/json.ts";
import { tierNamed } from "../../usage/read-service.ts";
import type { Api } from "../apis/endpoint-paths.ts";
import type { Json } from "../apis/draft.ts";

/** Names with which the server chooses the tier. */
const OPEN = /^(?:.*_)?(?:auto|unspecified)?$/i;

/**
 * Returns the service tiers that may serve a request, of those with a `known` price. The first is the one that it names, or the
 * standard one, which also serves where another has no capacity.
 */
export function tiersAsked(api: Api, body: Json, known: readonly string[]): readonly string[] {
  const { speed, inference_geo: geo, service_tier: tier = body["serviceTier"] } = body;
  const name = isJsonObject(tier) ? tier["type"] : tier;
  const isOpen = typeof name !== "string" || OPEN.test(name);
  const service = isOpen || name === "standard_only" ? "" : tierNamed(name);
  const isPossible = (one: string): boolean => {
    if (one === "us_only") return geo == null || geo === "us";
    return api === "anthropic" && one === "fast" ? speed === "fast" : isOpen || one === service;
  };
  const named = joined(service, speed === "fast" ? "fast" : "", geo === "us" ? "us_only" : "");
  const possible = known.filter((one) => one.split("+").every(isPossible));
  const tiers = new Set([named, "", ...possible]);
  // Anthropic's region applies on top of any tier, and may be the default of a workspace
  if (possible.includes("us_only"))
    for (const one of tiers) if (!one.includes("us_only")) tiers.add(joined(one, "us_only"));
  return [...tiers];
}

function joined(...tiers: readonly string[]): string {
  return tiers.filter((tier) => tier !== "").join("+");
}
