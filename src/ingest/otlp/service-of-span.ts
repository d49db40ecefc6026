import { providerAt } from "../../usage/provider-at.ts";
import { serviceOf, tierNamed } from "../../usage/read-service.ts";
import type { Service } from "../../usage/usage.ts";
import { PROVIDER, SERVER } from "./attribute-rows.ts";
import { textOf, type Attributes } from "./attributes.ts";
import { documentIn } from "./document-in.ts";

/** `openai.response.service_tier`, `anthropic.response.service_tier`, …: the tier as served, never as requested. */
const TIER = /(?:^|\.)response\.service_tier$/;

/**
 * Resolves the provider and the service tier of a span. The host takes precedence over the name, because many
 * instrumentations report every OpenAI-compatible server as `openai`.
 */
export function serviceOfSpan(attributes: Attributes): Service | undefined {
  const hosts = SERVER.map((key) => hostOf(textOf(attributes.get(key))));
  const byHost = hosts.map((host) => (host === undefined ? undefined : providerAt(host))).find(Boolean);
  const named = PROVIDER.map((key) => textOf(attributes.get(key))).find((name) => name !== null);
  return serviceOf(byHost ?? named, [tierOf(attributes)]);
}

function hostOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  return text.includes("://") ? URL.parse(text)?.hostname : text;
}

function tierOf(attributes: Attributes): string {
  for (const [key, value] of attributes) if (TIER.test(key)) return tierNamed(value);
  const metadata = documentIn(attributes.get("ai.response.providerMetadata"));
  for (const said of Object.values(metadata ?? {})) {
    const document = documentIn(said);
    const usage = documentIn(document?.["usage"]) ?? documentIn(document?.["usageMetadata"]);
    const tier = document?.["serviceTier"] ?? usage?.["service_tier"] ?? usage?.["serviceTier"];
    if (tier != null) return tierNamed(tier);
  }
  return "";
}
