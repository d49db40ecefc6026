import { describe, expect, it } from "vitest";
import { PROVIDER } from "../../../../src/ingest/otlp/attribute-rows.ts";
import { serviceOfSpan } from "../../../../src/ingest/otlp/service-of-span.ts";

const serviceOf = (record: Record<string, unknown>) => serviceOfSpan(new Map(Object.entries(record)));

describe("serviceOfSpan", () => {
  it.each(PROVIDER)("reads the provider from %s", (key) => {
    expect(serviceOf({ [key]: "Groq" })).toEqual({ provider: "groq", tier: "" });
  });

  it("prefers the host to the provider's name", () => {
    const named = { "gen_ai.provider.name": "openai" };
    expect(serviceOf({ ...named, "server.address": "api.groq.com" })?.provider).toBe("groq");
    expect(serviceOf({ ...named, "gen_ai.openai.api_base": "https://openrouter.ai/api/v1" })?.provider).toBe(
      "openrouter",
    );
    expect(
      serviceOf({ ...named, "server.address": "bedrock-runtime.eu-west-1.amazonaws.com" })?.provider,
    ).toBe("aws");
    expect(serviceOf({ ...named, "server.address": "10.0.0.7" })?.provider).toBe("openai");
    expect(serviceOf({ ...named, "server.address": "notapi.groq.com.evil.example" })?.provider).toBe(
      "openai",
    );
    expect(serviceOf({ ...named, "gen_ai.openai.api_base": "http://[" })?.provider).toBe("openai");
  });

  it.each(["openai", "anthropic", "gen_ai.openai", "gen_ai"])("reads the tier of %s as served", (prefix) => {
    expect(serviceOf({ [`${prefix}.response.service_tier`]: "priority" })?.tier).toBe("priority");
    expect(serviceOf({ [`${prefix}.response.service_tier`]: "default" })).toBeUndefined();
    expect(serviceOf({ [`${prefix}.request.service_tier`]: "priority" })).toBeUndefined();
  });

  it("reads the tier from the AI SDK's provider metadata", () => {
    const tierIn = (metadata: object) =>
      serviceOf({ "ai.response.providerMetadata": JSON.stringify(metadata) })?.tier;
    expect(tierIn({ openai: { serviceTier: "flex" } })).toBe("flex");
    expect(tierIn({ anthropic: { usage: { service_tier: "batch" } } })).toBe("batch");
    expect(tierIn({ openai: { serviceTier: "default" } })).toBeUndefined();
  });

  it("returns undefined without provider and tier", () => {
    expect(serviceOf({})).toBeUndefined();
  });
});
