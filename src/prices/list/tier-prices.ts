/** USD per million tokens. */
export type TokenPricesAtTier = readonly [input: number, cachedInput: number | null, output: number];

/** What a provider charges at a tier: a factor on all tokens, or separate prices for some models. */
export interface TierPrice {
  /** A provider id of the list. */
  readonly provider: string;
  readonly tiers: readonly string[];
  /** Where the provider publishes it, and the day it was last checked. */
  readonly source: string;
  readonly checked: string;
  /** For all models, or those that match. It also applies to long requests. */
  readonly factor?: { readonly times: number; readonly models?: RegExp };
  /** By the list's ids. They do not apply to requests above the size from which the list charges more. */
  readonly models?: Readonly<Record<string, TokenPricesAtTier>>;
  /** USD per thousand requests, by the list's ids. Tokens cost the list price. */
  readonly requests?: Readonly<Record<string, number>>;
}

const checked = "2026-11-22";

const openaiPriority: Readonly<Record<string, TokenPricesAtTier>> = {
  "gpt-5.5": [12.5, 1.25, 75],
  "gpt-5.4": [5, 0.5, 30],
  "gpt-5.4-mini": [1.5, 0.15, 9],
  "gpt-5.2": [3.5, 0.35, 28],
  "gpt-5.1": [2.5, 0.25, 20],
  "gpt-5": [2.5, 0.25, 20],
  "gpt-5-mini": [0.45, 0.045, 3.6],
  "gpt-4.1": [3.5, 0.875, 14],
  "gpt-4.1-mini": [0.7, 0.175, 2.8],
  "gpt-4.1-nano": [0.2, 0.05, 0.8],
  "gpt-4o": [4.25, 2.125, 17],
  "gpt-4o-2024-05-13": [8.75, null, 26.25],
  "gpt-4o-mini": [0.25, 0.125, 1],
};

/** The list contains the fee for a high search context. */
const perplexityPricing = "https://docs.perplexity.ai/getting-started/pricing, request pricing";
const claudeFastMode = "https://platform.claude.com/docs/en/build-with-claude/fast-mode";
const claudePricing = "https://platform.claude.com/docs/en/about-claude/pricing";

/** The tiers with a known price other than the list price. Any other tier has no price, unless a project sets one. */
export const tierPrices: readonly TierPrice[] = [
  {
    provider: "openai",
    tiers: ["flex"],
    source:
      "https://developers.openai.com/api/docs/guides/flex-processing: at the rates of the Batch API, half",
    checked,
    factor: { times: 0.5 },
  },
  {
    provider: "openai",
    tiers: ["batch"],
    source: "https://developers.openai.com/api/docs/guides/batch",
    checked,
    factor: { times: 0.5 },
  },
  {
    // Priority processing was renamed fast mode on 30 July 2026. Responses contain either name.
    provider: "openai",
    tiers: ["priority", "fast"],
    source: "https://openai.com/api-fast-mode: twice the list price, of long requests too",
    checked,
    factor: { times: 2, models: /^gpt-(?:5\.6|6)/ },
  },
  {
    provider: "openai",
    tiers: ["priority", "fast"],
    source: "https://openai.com/api-fast-mode",
    checked,
    models: openaiPriority,
  },
  {
    provider: "openai",
    tiers: ["ultrafast"],
    source: "https://developers.openai.com/api/docs/guides/ultrafast-mode",
    checked,
    factor: { times: 6, models: /^gpt-6-astra$/ },
  },
  {
    provider: "perplexity",
    tiers: ["low_context"],
    source: perplexityPricing,
    checked,
    requests: { sonar: 5, "sonar-pro": 6, "sonar-reasoning": 5, "sonar-reasoning-pro": 6 },
  },
  {
    provider: "perplexity",
    tiers: ["medium_context"],
    source: perplexityPricing,
    checked,
    requests: { sonar: 8, "sonar-pro": 10, "sonar-reasoning": 8, "sonar-reasoning-pro": 10 },
  },
  {
    provider: "anthropic",
    tiers: ["batch"],
    source: "https://platform.claude.com/docs/en/build-with-claude/batch-processing",
    checked,
    factor: { times: 0.5 },
  },
  {
    provider: "anthropic",
    tiers: ["fast"],
    source: claudeFastMode,
    checked,
    factor: { times: 6, models: /^claude-opus-4-[67]$/ },
  },
  {
    provider: "anthropic",
    tiers: ["fast"],
    source: claudeFastMode,
    checked,
    factor: { times: 2, models: /^claude-opus-(?:4-8|5|5-5)$/ },
  },
  {
    provider: "anthropic",
    tiers: ["us_only"],
    source: `${claudePricing}, data residency: Claude Opus 4.6 and newer models`,
    checked,
    factor: {
      times: 1.1,
      models: /^claude-(?:opus-4-[678]|sonnet-4-6|(?:opus|sonnet|haiku|fable|mythos)-5(?:-\d+)?)$/,
    },
  },
];
