import { dailyPeak, type Correction } from "./correction.ts";

const deepseekPage = "https://api-docs.deepseek.com/quick_start/pricing";

/** Peak hours apply every day at first, and only on working days in China since 23 August 2026. */
const deepseekPeak = dailyPeak({
  hoursUtc: [
    [1, 4],
    [6, 10],
  ],
  workdaysSince: "2026-08-22T16:00:00Z",
  utcOffsetHours: 8,
  // The public holidays that China has announced for these months. Those of later years need a new release.
  holidays: [
    ["2026-09-25", "2026-09-27"],
    ["2026-10-01", "2026-10-07"],
  ],
});

const flash = [
  { from: "2026-04-24T00:00:00Z", prices: { input: 0.14, cacheRead: 0.028, output: 0.28 } },
  { from: "2026-04-26T00:00:00Z", prices: { input: 0.14, cacheRead: 0.0028, output: 0.28 } },
  {
    from: "2026-08-16T16:00:00Z",
    prices: { input: 0.22, cacheRead: 0.007, output: 0.66 },
    peak: { times: deepseekPeak, factor: 2 },
  },
  {
    from: "2026-09-09T16:00:00Z",
    prices: { input: 0.15, cacheRead: 0.003, output: 0.6 },
    peak: { times: deepseekPeak, factor: 2 },
  },
] as const;

/** xAI charges all uncached input and all output of a request above 128,000 input tokens at twice the price. */
const doubledAbove128k = [{ aboveTokens: 128_000, factors: { input: 2, output: 2 } }] as const;

/**
 * Known errors of the built-in list. Prices in USD per million tokens. A test fails once the list is right about one of
 * them; it is then deleted here.
 */
export const listCorrections: readonly Correction[] = [
  {
    provider: "deepseek",
    models: ["deepseek-chat", "deepseek-reasoner"],
    source: `${deepseekPage} and its news of 2025-08-21 and 2025-09-29`,
    checked: "2026-11-22",
    why: "One price for both models since September 2025; served by V4 Flash from 24 April 2026 until they were retired.",
    periods: [
      { from: "2025-09-05T16:00:00Z", prices: { input: 0.56, cacheRead: 0.07, output: 1.68 } },
      { from: "2025-09-29T00:00:00Z", prices: { input: 0.28, cacheRead: 0.028, output: 0.42 } },
      ...flash.slice(0, 2),
    ],
  },
  {
    provider: "deepseek",
    models: ["deepseek-flash", "deepseek-v4-flash", "deepseek-v4-flash-vision-exp"],
    source: deepseekPage,
    checked: "2026-11-22",
    why: "V4.1 Flash took over the name and the price in September 2026; weekends and holidays are off-peak.",
    periods: flash,
  },
  {
    provider: "deepseek",
    models: ["deepseek-v4-pro"],
    source: deepseekPage,
    checked: "2026-11-22",
    why: "The price of the first two days, and peak hours on working days alone.",
    periods: [
      { from: "2026-04-24T00:00:00Z", prices: { input: 1.74, cacheRead: 0.145, output: 3.48 } },
      { from: "2026-04-26T00:00:00Z", prices: { input: 0.435, cacheRead: 0.003625, output: 0.87 } },
      {
        from: "2026-08-16T16:00:00Z",
        prices: { input: 0.66, cacheRead: 0.022, output: 1.98 },
        peak: { times: deepseekPeak, factor: 2 },
      },
    ],
  },
  {
    provider: "anthropic",
    models: ["claude-sonnet-4-0", "claude-sonnet-4", "claude-sonnet-4-20250514", "claude-4-sonnet"],
    source: "https://platform.claude.com/docs/en/about-claude/pricing, long-context pricing",
    checked: "2026-11-22",
    why: "Requests above 200,000 input tokens cost more while the 1M context was in beta.",
    periods: [
      {
        from: "2025-08-12T00:00:00Z",
        prices: { input: 3, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 },
        above: [
          {
            aboveTokens: 200_000,
            factors: { input: 2, cacheRead: 2, cacheWrite: 2, cacheWrite1h: 2, output: 1.5 },
          },
        ],
        perThousand: { web_searches: 10 },
      },
    ],
  },
  {
    provider: "anthropic",
    models: ["claude-sonnet-5-5"],
    source: "https://platform.claude.com/docs/en/about-claude/pricing, as quoted on 2026-10-24",
    checked: "2026-11-22",
    why: "Cache reads became half as dear on 7 October 2026; the list takes it for Sonnet 5.",
    periods: [
      {
        from: "2026-10-07T00:00:00Z",
        prices: { input: 2, cacheRead: 0.1, cacheWrite: 2.5, cacheWrite1h: 4, output: 10 },
        perThousand: { web_searches: 10 },
      },
    ],
  },
  {
    provider: "openai",
    models: ["o3", "o3-2025-04-16"],
    source:
      "https://platform.openai.com/docs/pricing as it was in April and June 2025, which nobody can look at again",
    checked: "2026-11-22",
    why: "Cached input cost $2.50 until the price cut of 10 June 2025.",
    periods: [
      { from: "2025-04-16T00:00:00Z", prices: { input: 10, cacheRead: 2.5, output: 40 } },
      {
        from: "2025-06-10T00:00:00Z",
        prices: { input: 2, cacheRead: 0.5, output: 8 },
        perThousand: { web_searches: 10, storage_searches: 2.5 },
      },
    ],
  },
  {
    provider: "mistral",
    models: ["mistral-large-latest"],
    source: "https://docs.mistral.ai/models/mistral-large-3-25-12 and mistral-large-4-0, as quoted by others",
    checked: "2026-11-22",
    why: "Large 3 from December 2025 on; since Large 4 nobody says which of them it names.",
    periods: [
      { from: "2025-12-02T00:00:00Z", prices: { input: 0.5, cacheRead: 0.05, output: 1.5 } },
      { from: "2026-10-06T00:00:00Z" },
    ],
  },
  {
    provider: "x-ai",
    models: ["grok-4-0709", "grok-4", "grok-4-latest"],
    source: "https://docs.x.ai/docs/models, higher context pricing",
    checked: "2026-11-22",
    why: "Requests above 128,000 input tokens cost twice as much.",
    periods: [
      {
        from: "2025-07-09T00:00:00Z",
        prices: { input: 3, cacheRead: 0.75, output: 15 },
        above: doubledAbove128k,
      },
    ],
  },
  {
    provider: "x-ai",
    models: [
      "grok-4-fast",
      "grok-4-fast-reasoning",
      "grok-4-fast-reasoning-latest",
      "grok-4-fast-non-reasoning",
      "grok-4-fast-non-reasoning-latest",
    ],
    source: "https://docs.x.ai/docs/models, higher context pricing",
    checked: "2026-11-22",
    why: "Requests above 128,000 input tokens cost twice as much.",
    periods: [
      {
        from: "2025-09-19T00:00:00Z",
        prices: { input: 0.2, cacheRead: 0.05, output: 0.5 },
        above: doubledAbove128k,
      },
    ],
  },
];
