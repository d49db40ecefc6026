import { describe, expect, it } from "vitest";
import { loadPriceList } from "../../../src/prices/list/load-price-list.ts";
import { createPriceBook } from "../../../src/prices/price-book.ts";
import { projectSchedules, type ProjectPrice } from "../../../src/prices/project/project-prices.ts";
import { unknownCost } from "../../../src/prices/cost-of-call.ts";
import { inUsd } from "../../../src/prices/picodollars.ts";
import { usageOf } from "./usage.ts";

const builtIn = await loadPriceList();
const us = (instant: string): number => Date.parse(instant) * 1000;
const priced = (
  llm_id: string,
  from: string,
  prompt: number,
  more: Partial<ProjectPrice> = {},
): ProjectPrice => ({
  id: "a",
  llm_id,
  provider_id: "default",
  effectiveAtUs: us(from),
  createdAtMs: 0,
  prompt_token_cost: prompt,
  completion_token_cost: 0,
  cache_read_input_token_cost: null,
  cache_creation_input_token_cost: null,
  service_tier: "",
  unit_costs: {},
  ...more,
});
const bookOf = (prices: readonly ProjectPrice[], onUnknown?: (llmId: string) => void) =>
  createPriceBook({
    list: builtIn,
    project: projectSchedules(prices),
    ...(onUnknown === undefined ? {} : { onUnknown }),
  });
const thousand = usageOf({ promptTokens: 1_000 });
const promptCost = (prices: readonly ProjectPrice[], llmId: string, at: string): number | null =>
  usd(bookOf(prices).cost(llmId, us(at), thousand).prompt);
const usd = (cost: number | null): number | null => (cost === null ? null : inUsd(cost));

describe("createPriceBook", () => {
  it("prefers the project's price, and the exact id to the plain one", () => {
    const plain = priced("gpt-4o", "2020-01-01T00:00:00Z", 0.001);
    const exact = priced("azure/gpt-4o", "2020-01-01T00:00:00Z", 0.003);
    const at = "2026-01-01T00:00:00Z";
    expect(promptCost([plain], "gpt-4o", at)).toBe(1);
    expect(promptCost([plain], "azure/gpt-4o", at)).toBe(1);
    expect(promptCost([plain], "gpt-4o-2024-08-06", at)).toBe(1);
    expect(promptCost([plain, exact], "azure/gpt-4o", at)).toBe(3);
    expect(promptCost([plain, exact], "gpt-4o", at)).toBe(1);
    expect(promptCost([plain], "gpt-4o-mini", at)).toBe(0.00015);
  });

  it.each([
    ["our-llama:step25", true],
    ["our-llama:ckpt-step-90", true],
    ["our-llama:latest", true],
    ["our-llama:free", false],
    ["our-llama:70b-instruct-q4_K_M", false],
    ["our-llama:stepwise", false],
    ["our-llama-step1", false],
    ["our-llama:step1:free", false],
  ])("is that of a model only for its checkpoints: %s, %s", (llmId, isCheckpoint) => {
    const prices = [priced("our-llama", "2020-01-01T00:00:00Z", 0.001)];
    expect(promptCost(prices, llmId, "2026-01-01T00:00:00Z")).toBe(isCheckpoint ? 1 : null);
  });

  it("charges the prompt price for cached tokens without a cache price, and 0 only for a cache price of 0", () => {
    const usage = usageOf({
      promptTokens: 1_000,
      cacheReadTokens: 600,
      cacheCreationTokens: 300,
    });
    const at = us("2026-01-01T00:00:00Z");
    const unset = priced("own", "2020-01-01T00:00:00Z", 0.001);
    // 100 × $0.001, 600 × $0.001, 300 × $0.001
    expect(bookOf([unset]).cost("own", at, usage)).toEqual({
      prompt: 0.1 * 1e12,
      completion: 0,
      cacheRead: 0.6 * 1e12,
      cacheCreation: 0.3 * 1e12,
      other: 0,
    });
    const free = { ...unset, cache_read_input_token_cost: 0, cache_creation_input_token_cost: 0.002 };
    expect(bookOf([free]).cost("own", at, usage)).toMatchObject({ cacheRead: 0, cacheCreation: 0.6 * 1e12 });
  });

  it("reports each LLM without a price once, and none that has one", () => {
    const heard: string[] = [];
    const book = bookOf([priced("own", "2026-06-01T00:00:00Z", 1)], (llmId) => heard.push(llmId));
    const at = us("2026-01-01T00:00:00Z");
    for (const llmId of ["gpt-4o", "mystery", "mystery", "own", "gemma-3"]) book.cost(llmId, at, thousand);
    expect(book.cost("mystery", at, thousand)).toEqual(unknownCost);
    expect(heard).toEqual(["mystery", "own", "gemma-3"]);
  });
});

describe("the provider of a call", () => {
  const at = us("2026-11-01T00:00:00Z");
  const million = usageOf({ promptTokens: 1_000_000, completionTokens: 1_000_000 });
  const pair = (llmId: string, provider: string, tier = "", prices: readonly ProjectPrice[] = []) => {
    const cost = bookOf(prices).cost(llmId, at, { ...million, service: { provider, tier } });
    return [usd(cost.prompt), usd(cost.completion)];
  };

  it("takes precedence over the id", () => {
    expect(pair("openai/gpt-oss-120b", "groq")).toEqual([0.15, 0.6]);
    expect(pair("groq/openai/gpt-oss-120b", "groq.chat")).toEqual([0.15, 0.6]);
    expect(pair("gpt-4o", "openai.responses")).toEqual([2.5, 10]);
    expect(pair("claude-sonnet-4-5", "aws.bedrock")).toEqual(pair("claude-sonnet-4-5", "anthropic"));
  });

  it("does not lead to another provider's price if it has none", () => {
    expect(pair("gpt-4o", "groq")).toEqual([null, null]);
    expect(pair("gpt-4o", "our-proxy")).toEqual([2.5, 10]);
  });

  it("selects the published price of a tier", () => {
    // OpenAI: flex at half, priority $2.50 and $20 for GPT-5; Anthropic: batches at half
    expect(pair("gpt-5", "openai", "flex")).toEqual([0.625, 5]);
    expect(pair("gpt-5", "", "priority")).toEqual([2.5, 20]);
    expect(pair("claude-haiku-4-5", "anthropic", "batch")).toEqual([0.5, 2.5]);
    // OpenAI's priority is called fast too, and costs twice the list from GPT-5.6 on, here that of long requests; ultrafast six times
    expect(pair("gpt-5", "", "fast")).toEqual([2.5, 20]);
    expect(pair("gpt-5.6-luna", "openai", "priority")).toEqual([0.8, 3.6]);
    expect(pair("gpt-6.1-sol-2026-09-29", "", "fast")).toEqual([8, 30]);
    expect(pair("gpt-6-astra", "", "ultrafast")).toEqual([120, 450]);
    // Anthropic: fast mode six times for Opus 4.6, twice since Opus 4.8; in the US alone 1.1 times, of either
    expect(pair("claude-opus-4-6", "", "fast")).toEqual([30, 150]);
    expect(pair("claude-opus-5-5", "anthropic", "fast")).toEqual([8, 40]);
    expect(pair("claude-opus-5-5", "", "us_only")).toEqual([4.4, 22]);
    expect(pair("claude-sonnet-4-6", "", "us_only")).toEqual([3.3, 16.5]);
    expect(pair("claude-opus-5-5", "", "fast+us_only")).toEqual([8.8, 44]);
    expect(pair("claude-haiku-5-5", "", "batch+us_only")).toEqual([0.275, 1.375]);
    // Perplexity's fee depends on the search context, $6, $10 and $14 a thousand for Sonar Pro; tokens do not
    const feeOf = (tier: string, provider = "perplexity") =>
      usd(bookOf([]).cost("sonar-pro", at, { ...thousand, service: { provider, tier } }).other);
    expect([feeOf("low_context"), feeOf("medium_context"), feeOf("")]).toEqual([0.006, 0.01, 0.014]);
    expect(feeOf("low_context", "")).toBe(0.006);
    expect(pair("sonar-pro", "", "low_context")).toEqual([3, 15]);
    expect(pair("gpt-4o", "", "low_context")).toEqual([2.5, 10]);
    expect(pair("sonar-deep-research", "", "medium_context")).toEqual([2, 8]);
    expect(pair("gpt-5", "", "low_context", [priced("gpt-5", "2026-01-01T00:00:00Z", 0.1)])[0]).toBe(100_000);
    expect(pair("sonar", "", "low_context", [priced("sonar", "2026-01-01T00:00:00Z", 0.1)])[0]).toBe(100_000);
    // Groq: flex costs what on demand costs
    expect(pair("openai/gpt-oss-120b", "groq", "flex")).toEqual([0.15, 0.6]);
  });

  it("has no price for a tier without a published one", () => {
    expect(pair("gpt-5", "openai", "scale")).toEqual([null, null]);
    expect(pair("claude-sonnet-4-5", "anthropic", "priority")).toEqual([null, null]);
    expect(pair("o1", "openai", "priority")).toEqual([null, null]);
    expect(pair("gpt-6-sol", "openai", "ultrafast")).toEqual([null, null]);
    expect(pair("claude-opus-4-5", "anthropic", "us_only")).toEqual([null, null]);
    expect(pair("claude-sonnet-5", "anthropic", "fast")).toEqual([null, null]);
    expect(pair("claude-opus-5-5", "aws", "fast")).toEqual([null, null]);
    expect(pair("claude-opus-5-5", "", "fast+unheard_of")).toEqual([null, null]);
    expect(pair("gemini-2.5-pro", "google", "flex")).toEqual([null, null]);
  });

  it("uses a project's price of that tier, and never its default price for another tier", () => {
    const prices = [
      priced("gpt-5", "2026-01-01T00:00:00Z", 0.1),
      priced("gpt-5", "2026-01-01T00:00:00Z", 0.2, { id: "b", service_tier: "scale" }),
      priced("openai/gpt-oss-120b", "2026-01-01T00:00:00Z", 0.3, { id: "c" }),
    ];
    expect(pair("gpt-5", "", "", prices)[0]).toBe(100_000);
    expect(pair("gpt-5", "", "scale", prices)[0]).toBe(200_000);
    expect(pair("gpt-5", "", "flex", prices)[0]).toBe(0.625);
    expect(pair("openai/gpt-oss-120b", "groq", "flex", prices)[0]).toBe(300_000);
  });

  it("charges a project's prices of units", () => {
    const own = priced("own", "2026-01-01T00:00:00Z", 0.001, {
      unit_costs: { web_searches: 0.02, input_audio_tokens: 0.01, requests: 0.5 },
    });
    const cost = bookOf([own]).cost(
      "own",
      at,
      usageOf({ requests: 2, promptTokens: 100, units: { web_searches: 3, input_audio_tokens: 40 } }),
    );
    // 60 × $0.001 + 40 × $0.01; 3 × $0.02 + 2 × $0.50
    expect([usd(cost.prompt), usd(cost.other)]).toEqual([0.46, 1.06]);
  });

  it("knows context windows, at a provider or any, and the tiers of the list and of the project", () => {
    const book = bookOf([
      priced("gpt-4o", "2020-01-01T00:00:00Z", 1, { service_tier: "scale" }),
      priced("ours", "2020-01-01T00:00:00Z", 1),
    ]);
    expect(book.contextWindowOf("gpt-4o-2024-08-06", "openai")).toBe(128_000);
    expect(book.contextWindowOf("claude-opus-4-6", "anthropic")).toBe(1_000_000);
    expect(book.contextWindowOf("claude-opus-4-6", "somebody")).toBe(1_000_000);
    expect(book.contextWindowOf("ours", "")).toBeNull();
    expect(book.tiersOf("gpt-4o", "openai")).toEqual(["flex", "batch", "priority", "fast", "scale"]);
    expect(book.tiersOf("claude-opus-4-6", "anthropic")).toEqual(["batch", "fast", "us_only"]);
    expect(book.tiersOf("ours", "")).toEqual([]);
  });
});
