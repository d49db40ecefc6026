import { calcPrice, waitForUpdate, type ModelInfo, type Provider } from "@pydantic/genai-prices";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { loadPriceList } from "../../../../src/prices/list/load-price-list.ts";
import { ratesOfListedPrice } from "../../../../src/prices/list/built-in-rates.ts";
import { costLines, costOfCall } from "../../../../src/prices/cost-of-call.ts";
import { inUsd } from "../../../../src/prices/picodollars.ts";
import { priceGrid } from "../../../../src/prices/price-grid.ts";
import type { PricedUsage } from "../../../../src/usage/usage.ts";
import type { Rates, TokenPrices } from "../../../../src/prices/rates.ts";
import { usageOf } from "../usage.ts";

const builtIn = await loadPriceList();
/** In USD per million tokens, as the list has them. */
const pricesAt = (llmId: string, instant: string): TokenPrices | undefined => {
  const prices = builtIn.find(llmId)?.schedule(Date.parse(instant) * 1000).rates?.base;
  if (prices === undefined) return undefined;
  const usd = Object.entries(prices).map(([kind, price]) => [
    kind,
    price === null ? null : price / 1_000_000,
  ]);
  return Object.fromEntries(usd) as TokenPrices;
};
const today = "2026-10-01T12:00:00Z";

describe("the price list", () => {
  it.each([
    ["gpt-4o", 2.5],
    ["gpt-4o-2024-08-06", 2.5],
    ["gpt-4o-2099-12-31", 2.5],
    ["GPT-4o", 2.5],
    ["openai/gpt-4o", 2.5],
    ["azure/gpt-4o", 2.5],
    ["azure/eu/gpt-4o-2024-08-06", 2.5],
    ["openai:gpt-4o-mini", 0.15],
    ["anthropic/claude-3-5-sonnet-20241022", 3],
    ["claude-3-5-sonnet@20240620", 3],
    ["claude-opus-4-20990101", 15],
    ["anthropic.claude-3-haiku-20240307-v1:0", 0.25],
    ["us.anthropic.claude-sonnet-4-20250514-v1:0", 3],
    // Bedrock sells the newer models dearer in a region than at large.
    ["us.anthropic.claude-opus-4-5-20251101-v1:0", 5.5],
    ["global.anthropic.claude-opus-4-5-20251101-v1:0", 5],
    ["arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0", 3],
    ["bedrock/amazon.nova-pro-v1:0", 0.8],
    ["us.amazon.nova-pro-v1:0", 0.8],
    ["us.anthropic.claude-2-v1:0", 8],
    ["claude-sonnet-4@default", 3],
    ["gemini-1.5-pro@001", 1.25],
    ["publishers/google/models/gemini-2.5-pro", 1.25],
    ["projects/p/locations/us-central1/publishers/anthropic/models/claude-sonnet-4@20250514", 3],
    ["vertex_ai/gemini-2.5-pro", 1.25],
    ["models/gemini-2.5-pro", 1.25],
    ["mistral/mistral-large-latest", 0.5],
    ["xai/grok-4", 3],
    ["text-embedding-3-small", 0.02],
    ["sonar-pro", 3],
    ["groq/llama-3.3-70b-versatile", 0.59],
    ["llama-3.3-70b-versatile", 0.59],
    ["openrouter/anthropic/claude-3.5-sonnet", 3],
    ["openrouter/deepseek/deepseek-r1:free", 0],
  ])("has a price for %s", (llmId, prompt) => {
    expect(pricesAt(llmId, today)?.prompt).toBe(prompt);
  });

  it.each([
    "totally-unknown",
    "",
    "constructor",
    "__proto__",
    "x".repeat(100_000),
    // A fine-tuned model has another price than the one it came from.
    "ft:gpt-4o-2024-08-06:acme::abc",
    // Open models under their public names may run anywhere, at any price.
    "meta-llama/Llama-3.3-70B-Instruct",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
    "deepseek-r1:7b",
    // Nor do checkpoints and variants cost what their model costs.
    "gpt-4o:step25",
    "claude-opus-4-5:free",
    "gemini-2.5-pro:latest",
    "wandb-artifact:///acme/gpt-4o/claude-opus-4-5:v0",
    // A host of open models sells at its own prices alone.
    "groq/gpt-4o",
    // Listed without any price.
    "google/gemma-3-27b-it",
  ])("has no price for %s", (llmId) => {
    expect(pricesAt(llmId, today)).toBeUndefined();
  });

  it("uses the price of the hour: DeepSeek was cheaper from 16:30 to 00:30", () => {
    expect(pricesAt("deepseek-chat", "2025-03-01T00:29:59.999Z")?.prompt).toBe(0.135);
    expect(pricesAt("deepseek-chat", "2025-03-01T00:30:00Z")?.prompt).toBe(0.27);
    expect(pricesAt("deepseek-chat", "2025-03-01T16:29:59.999Z")?.prompt).toBe(0.27);
    expect(pricesAt("deepseek-chat", "2025-03-01T16:30:00Z")?.prompt).toBe(0.135);
    expect(pricesAt("deepseek-chat", "1969-12-31T12:00:00Z")?.prompt).toBe(0.27);
  });
});

describe("the whole built-in list", () => {
  let models: readonly (readonly [Provider, ModelInfo])[] = [];
  beforeAll(async () => {
    const providers = (await waitForUpdate()) ?? [];
    models = providers.flatMap((provider) => provider.models.map((model) => [provider, model] as const));
  });
  const askLibrary = (provider: Provider, model: ModelInfo, usage: object, timestamp: Date) =>
    calcPrice({ ...usage }, model.id, {
      provider: { ...provider, models: [{ ...model, match: { equals: model.id } }] },
      timestamp,
    })!;
  const ratesOf = (provider: Provider, model: ModelInfo) =>
    ratesOfListedPrice(askLibrary(provider, model, {}, new Date("2026-07-01T12:00:00Z")).model_price);
  /** Sums the lines; lines without a price are 0. */
  const sumOfLines = (usage: PricedUsage, rates: Rates) => {
    const lines = costLines(usage, rates);
    const unknown = new Set(lines.filter((line) => line.price === null).map((line) => line.kind));
    return lines
      .filter((line) => !unknown.has(line.kind))
      .reduce((sum, line) => sum + line.quantity * line.price!, 0);
  };
  const instants = fc.date({
    min: new Date("2023-01-01"),
    max: new Date("2027-06-01"),
    noInvalidDate: true,
  });

  it("changes prices only at midnight and has no first price that starts later, which the grid requires", () => {
    for (const [, model] of models) {
      if (!Array.isArray(model.prices)) continue;
      expect(model.prices[0]?.constraint, model.id).toBeUndefined();
      for (const { constraint } of model.prices) {
        if (constraint?.type === "start_date") expect(Date.parse(constraint.start_date) % 86_400_000).toBe(0);
      }
    }
  });

  it("returns the rates that the library has in force at the same instant", () => {
    const dated = models.filter(([, model]) => Array.isArray(model.prices));
    fc.assert(
      fc.property(fc.constantFrom(...dated), instants, ([provider, model], at) => {
        const ratesAt = (atMs: number) =>
          ratesOfListedPrice(askLibrary(provider, model, {}, new Date(atMs)).model_price);
        expect(priceGrid(model.prices, ratesAt)(at.getTime() * 1000).rates).toEqual(ratesAt(at.getTime()));
      }),
      { numRuns: 500 },
    );
  });

  it("charges units besides tokens as the library does, for every model with prices for some", () => {
    const priced = models.filter(([provider, model]) =>
      Object.keys(ratesOf(provider, model)?.base.units ?? {}).some(
        (unit) => unit !== "cache_write_1h_tokens",
      ),
    );
    expect(priced.length).toBeGreaterThan(60);
    const part = fc.nat(1_000);
    const used = fc.record({
      text: fc.nat(300_000),
      audio: part,
      image: part,
      video: part,
      cachedText: part,
      cachedAudio: part,
      cachedImage: part,
      written: part,
      written1h: part,
      output: fc.record({
        text: part,
        audio: part,
        image: part,
        video: part,
        reasoning: part,
        citation: part,
      }),
      searches: part,
      // Groq charges ten at least.
      seconds: fc.integer({ min: 10, max: 1_000 }),
      pages: part,
    });
    fc.assert(
      fc.property(fc.constantFrom(...priced), used, ([provider, model], counts) => {
        const { output } = counts;
        const audio = counts.audio + counts.cachedAudio;
        const image = counts.image + counts.cachedImage;
        const read = counts.cachedText + counts.cachedAudio + counts.cachedImage;
        const written = counts.written + counts.written1h;
        const input = counts.text + audio + image + counts.video + counts.cachedText + written;
        const completion = Object.values(output).reduce((sum, count) => sum + count, 0);
        const rates = ratesOf(provider, model)!;
        const prices = rates.base.units ?? {};
        const isByTheToken =
          prices.input_audio_seconds === undefined && prices.input_document_pages === undefined;
        const units = {
          cache_write_1h_tokens: counts.written1h,
          cache_audio_read_tokens: counts.cachedAudio,
          cache_image_read_tokens: counts.cachedImage,
          input_audio_tokens: audio,
          input_image_tokens: image,
          input_video_tokens: counts.video,
          output_audio_tokens: output.audio,
          output_image_tokens: output.image,
          output_video_tokens: output.video,
          output_reasoning_tokens: output.reasoning,
          output_citation_tokens: output.citation,
          web_searches: isByTheToken ? counts.searches : 0,
          ...(prices.input_audio_seconds !== undefined && { input_audio_seconds: counts.seconds }),
          ...(prices.input_document_pages !== undefined && { input_document_pages: counts.pages }),
        };
        const expected = askLibrary(
          provider,
          model,
          {
            input_tokens: input,
            output_tokens: completion,
            cache_read_tokens: read,
            cache_write_tokens: written,
            // all of them are input
            ...(units.input_audio_seconds !== undefined && { audio_seconds: counts.seconds }),
            ...units,
          },
          new Date("2026-07-01T12:00:00Z"),
        );
        const usage = usageOf({
          promptTokens: input,
          completionTokens: completion,
          cacheReadTokens: read,
          cacheCreationTokens: written,
          units,
        });
        const cost = costOfCall(usage, rates);
        const withoutPrice = cost.other === null && rates.base.units?.web_searches === undefined;
        const total = Object.values(cost).reduce<number>((sum, one) => sum + (one ?? 0), 0);
        const fee = withoutPrice ? (rates.base.request ?? 0) : 0;
        expect(inUsd(total + fee), model.id).toBeCloseTo(expected.total_price, 9);
        expect(sumOfLines(usage, rates)).toBe(total);
      }),
      { numRuns: 2_000 },
    );
  });

  it("costs the same as in the library, for every model with token prices and any usage", () => {
    const tokens = fc.oneof(fc.nat(2_000), fc.nat(300_000), fc.nat(600_000));
    const used = fc.record({ uncached: tokens, read: tokens, written: tokens, completion: tokens });
    fc.assert(
      fc.property(fc.constantFrom(...models), used, instants, fc.boolean(), (listed, counts, at, beside) => {
        const { uncached, read, written, completion } = counts;
        const input = uncached + read + written;
        const expected = askLibrary(
          ...listed,
          {
            input_tokens: input,
            cache_read_tokens: read,
            cache_write_tokens: written,
            output_tokens: completion,
          },
          at,
        );
        const rates = ratesOfListedPrice(expected.model_price);
        if (rates === null) return;
        const cost = costOfCall(
          usageOf({
            promptTokens: beside ? uncached : input,
            completionTokens: completion,
            cacheReadTokens: read,
            cacheCreationTokens: written,
            cacheOutsidePrompt: beside,
          }),
          rates,
        );
        const inputCost = cost.prompt! + cost.cacheRead! + cost.cacheCreation!;
        expect(inUsd(inputCost)).toBeCloseTo(expected.input_price, 9);
        expect(inUsd(cost.completion ?? 0)).toBeCloseTo(expected.output_price, 9);
      }),
      { numRuns: 2_000 },
    );
  });
});
