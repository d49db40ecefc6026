import { describe, expect, it } from "vitest";
import { createBuiltInPrices } from "../../../src/prices/built-in-prices.ts";
import { loadPriceList } from "../../../src/prices/load-price-list.ts";
import { createPriceBook } from "../../../src/prices/price-book.ts";
import { projectSchedules, type ProjectPrice } from "../../../src/prices/project-prices.ts";
import { unknownCost } from "../../../src/prices/cost-of-call.ts";
import { inUsd } from "../../../src/prices/picodollars.ts";
import { usageOf } from "./usage.ts";

const builtIn = createBuiltInPrices(await loadPriceList());
const ms = (instant: string): number => Date.parse(instant);
const priced = (
  llm_id: string,
  from: string,
  prompt: number,
  more: Partial<ProjectPrice> = {},
): ProjectPrice => ({
  id: "a",
  llm_id,
  effectiveAtMs: ms(from),
  createdAtMs: 0,
  prompt_token_cost: prompt,
  completion_token_cost: 0,
  cache_read_input_token_cost: null,
  cache_creation_input_token_cost: null,
  ...more,
});
const bookOf = (prices: readonly ProjectPrice[], onUnknown?: (llmId: string) => void) =>
  createPriceBook({
    builtIn,
    project: projectSchedules(prices),
    ...(onUnknown === undefined ? {} : { onUnknown }),
  });
const thousand = usageOf({ promptTokens: 1_000 });
const promptCost = (prices: readonly ProjectPrice[], llmId: string, at: string): number | null =>
  usd(bookOf(prices).cost(llmId, ms(at), thousand).prompt);
const usd = (cost: number | null): number | null => (cost === null ? null : inUsd(cost));

describe("createPriceBook", () => {
  it("charges two calls around a price change the price each of them started at", () => {
    const prices = [
      priced("own", "2026-01-01T00:00:00Z", 0.002),
      priced("own", "2026-06-01T00:00:00Z", 0.001),
    ];
    // 1,000 × $0.002 = $2, then 1,000 × $0.001 = $1
    expect(promptCost(prices, "own", "2026-05-31T23:59:59.999Z")).toBe(2);
    expect(promptCost(prices, "own", "2026-06-01T00:00:00.000Z")).toBe(1);
    expect(promptCost(prices.toReversed(), "own", "2026-06-01T00:00:00.000Z")).toBe(1);
  });

  it("never uses a price that takes effect after the call", () => {
    const prices = [
      priced("own", "2026-06-01T00:00:00Z", 0.001),
      priced("gpt-4o", "2026-06-01T00:00:00Z", 9),
    ];
    expect(promptCost(prices, "own", "2026-05-31T00:00:00Z")).toBeNull();
    // Before the project's price took effect the built-in one held: 1,000 × $2.50/M
    expect(promptCost(prices, "gpt-4o", "2026-05-31T00:00:00Z")).toBe(0.0025);
    expect(promptCost(prices, "gpt-4o", "2026-06-01T00:00:00Z")).toBe(9_000);
  });

  it("prefers the project's price, that of the exact id to that of the plain one", () => {
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

  it("takes the price set last when two have the same date", () => {
    const at = "2026-01-01T00:00:00Z";
    const first = priced("own", at, 0.001, { createdAtMs: 1, id: "z" });
    const second = priced("own", at, 0.002, { createdAtMs: 2, id: "a" });
    expect(promptCost([first, second], "own", at)).toBe(2);
    expect(promptCost([second, first], "own", at)).toBe(2);
  });

  it("charges cached tokens the prompt price while no cache price is set, and 0 only when 0 was set", () => {
    const usage = usageOf({
      promptTokens: 1_000,
      cacheReadTokens: 600,
      cacheCreationTokens: 300,
    });
    const at = ms("2026-01-01T00:00:00Z");
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

  it("tells of each LLM without a price once, and of none that has one", () => {
    const heard: string[] = [];
    const book = bookOf([priced("own", "2026-06-01T00:00:00Z", 1)], (llmId) => heard.push(llmId));
    const at = ms("2026-01-01T00:00:00Z");
    for (const llmId of ["gpt-4o", "mystery", "mystery", "own", "whisper-1"]) book.cost(llmId, at, thousand);
    expect(book.cost("mystery", at, thousand)).toEqual(unknownCost);
    expect(heard).toEqual(["mystery", "own", "whisper-1"]);
  });

  it("answers the same after more LLM ids than it remembers", () => {
    const book = bookOf([]);
    const at = ms("2026-01-01T00:00:00Z");
    for (let index = 0; index < 11_000; index++) book.cost(`mystery-${index}`, at, thousand);
    expect(usd(book.cost("gpt-4o", at, thousand).prompt)).toBe(0.0025);
    expect(book.cost("mystery-0", at, thousand)).toEqual(unknownCost);
  });
});
