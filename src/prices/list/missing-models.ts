import type { Correction } from "./correction.ts";

const checked = "2026-11-22";
const openaiModels = "https://developers.openai.com/api/docs/models";
const claudePricing = "https://platform.claude.com/docs/en/about-claude/pricing";

/** OpenAI: above 272,000 input tokens, input and cache cost twice as much, output one and a half times as much. */
const above272k = [
  { aboveTokens: 272_000, factors: { input: 2, cacheRead: 2, cacheWrite: 2, output: 1.5 } },
] as const;
const openaiTools = { perThousand: { web_searches: 10, storage_searches: 2.5 } } as const;
const claudeTools = { perThousand: { web_searches: 10 } } as const;
const xaiTools = { perThousand: { web_searches: 5, social_searches: 5, code_executions: 5 } } as const;
/** xAI: from 200,000 input tokens on, everything costs twice as much. */
const from200k = [{ aboveTokens: 199_999, factors: { input: 2, cacheRead: 2, output: 2 } }] as const;

/**
 * Published prices of models that the built-in list lacks, in USD per million tokens. A test fails once the list has one of
 * them; it is then deleted here.
 */
export const missingModels: readonly Correction[] = [
  {
    provider: "openai",
    models: ["gpt-6.1-sol"],
    source: `${openaiModels}/gpt-6.1-sol, as quoted by others in October 2026`,
    checked,
    why: "Missing: released on 29 September 2026.",
    periods: [
      {
        from: "2026-09-29T00:00:00Z",
        prices: { input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10 },
        above: above272k,
        ...openaiTools,
      },
    ],
  },
  {
    provider: "openai",
    models: ["gpt-6.2-sol"],
    source: `${openaiModels}/gpt-6.2-sol`,
    checked,
    why: "Missing: released on 17 November 2026.",
    periods: [
      {
        from: "2026-11-17T00:00:00Z",
        prices: { input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10 },
        above: above272k,
        ...openaiTools,
      },
    ],
  },
  {
    provider: "anthropic",
    models: ["claude-haiku-5-5"],
    source: `${claudePricing}, as quoted on 2026-10-24`,
    checked,
    why: "Missing: released on 7 October 2026. Five times the price above 100,000 input tokens.",
    periods: [
      {
        from: "2026-10-07T00:00:00Z",
        prices: { input: 0.1, cacheRead: 0.01, cacheWrite: 0.125, cacheWrite1h: 0.2, output: 0.5 },
        above: [
          {
            aboveTokens: 100_000,
            factors: { input: 5, cacheRead: 5, cacheWrite: 5, cacheWrite1h: 5, output: 5 },
          },
        ],
        ...claudeTools,
      },
    ],
  },
  {
    provider: "anthropic",
    models: ["claude-fable-5-2"],
    source: `${claudePricing}, as quoted on 2026-11-10`,
    checked,
    why: "Missing, or priced as Fable 5: released on 9 November 2026.",
    periods: [
      {
        from: "2026-11-09T00:00:00Z",
        prices: { input: 8, cacheRead: 0.2, cacheWrite: 10, cacheWrite1h: 16, output: 40 },
        ...claudeTools,
      },
    ],
  },
  {
    provider: "anthropic",
    models: ["claude-mythos-5"],
    source: claudePricing,
    checked,
    why: "Missing: the price of Fable 5.",
    periods: [
      {
        from: "2026-06-09T00:00:00Z",
        prices: { input: 10, cacheRead: 1, cacheWrite: 12.5, cacheWrite1h: 20, output: 50 },
        ...claudeTools,
      },
    ],
  },
  {
    provider: "anthropic",
    models: ["claude-mythos-5-1"],
    source: claudePricing,
    checked,
    why: "Missing: the price of Fable 5.1.",
    periods: [
      {
        from: "2026-09-01T00:00:00Z",
        prices: { input: 10, cacheRead: 0.25, cacheWrite: 12.5, cacheWrite1h: 20, output: 50 },
        ...claudeTools,
      },
    ],
  },
  {
    provider: "x-ai",
    models: ["grok-4.7"],
    source: "https://docs.x.ai/developers/pricing",
    checked,
    why: "Missing: released on 21 September 2026.",
    periods: [
      {
        from: "2026-09-21T00:00:00Z",
        prices: { input: 2, cacheRead: 0.5, output: 6 },
        above: from200k,
        ...xaiTools,
      },
    ],
  },
  {
    provider: "x-ai",
    models: [
      "grok-4.20-0309-reasoning",
      "grok-4.20-0309-non-reasoning",
      "grok-4.20-multi-agent-0309",
      "grok-4.20-multi-agent",
    ],
    source: "https://docs.x.ai/developers/pricing",
    checked,
    why: "Missing by their dated names, or with the price of an earlier day. The price as it was confirmed on 13 July 2026.",
    periods: [
      {
        from: "2026-07-13T00:00:00Z",
        prices: { input: 1.25, cacheRead: 0.2, output: 2.5 },
        above: from200k,
      },
      {
        from: "2026-09-21T00:00:00Z",
        prices: { input: 1.25, cacheRead: 0.2, output: 2.5 },
        above: from200k,
        ...xaiTools,
      },
    ],
  },
];
