import type { ModelInfo, ModelPrice, TieredPrices } from "@pydantic/genai-prices";
import { exact } from "../picodollars.ts";
import type { Schedule } from "../rates.ts";

/** An error or omission of the built-in list that affects many entries. */
export interface Adjustment {
  /** Provider ids of the list. */
  readonly providers: readonly string[];
  /** For the id looked up, in lower case. */
  readonly models: RegExp;
  /** Before this instant, entries apply unchanged. */
  readonly from?: string;
  /** Where the provider publishes it, and the day it was last checked. */
  readonly source: string;
  readonly checked: string;
  readonly why: string;
  /** The published price, given the list's. Returns the same object if the list is right. */
  readonly adjust: (price: ModelPrice) => ModelPrice;
}

const checked = "2026-11-22";
type Listed = number | TieredPrices;
/** The list's entries for 120b, 20b and the safeguard model. */
const gptOssInputs: readonly unknown[] = [0.039, 0.029, 0.075];

/** A test fails once the list is right about one of these; it is then deleted here. */
export const listAdjustments: readonly Adjustment[] = [
  {
    providers: ["openai", "azure", "aws"],
    models: /gpt-/,
    source: "https://developers.openai.com/api/docs/models/gpt-6.2-sol, and those of GPT-5.4 to GPT-6",
    checked,
    why: "Long requests are those of more than 272,000 input tokens; the list begins with 272,000.",
    adjust: (price) => withBounds(price, (start) => (start === 271_999 ? 272_000 : start)),
  },
  {
    providers: ["aws", "google"],
    models: /claude/,
    source:
      "https://platform.claude.com/docs/en/build-with-claude/prompt-caching, the multipliers of Claude, which resellers charge too",
    checked,
    why: "A cache write of one hour costs twice the input, where the list has the write of five minutes alone.",
    adjust: (price) => {
      const { input_mtok: input, cache_write_mtok: write, cache_write_1h_mtok: hour } = price;
      if (input === undefined || write === undefined || hour !== undefined) return price;
      return { ...price, cache_write_1h_mtok: times(input, 2) };
    },
  },
  {
    providers: ["x-ai"],
    models: /^grok-[4-9]/,
    from: "2026-09-21T00:00:00Z",
    source: "https://docs.x.ai/developers/pricing, tools",
    checked,
    why: "Searches of the web and of X, and runs of code, cost $5 a thousand.",
    adjust: (price) =>
      withMissing(price, { web_searches_kcount: 5, social_searches_kcount: 5, code_executions_kcount: 5 }),
  },
  {
    providers: ["openai", "azure"],
    models: /^gpt-4o-audio-preview/,
    source: "https://developers.openai.com/api/docs/models/gpt-4o-audio-preview",
    checked,
    why: "The list has no price for audio.",
    adjust: (price) => withMissing(price, { input_audio_mtok: 40, output_audio_mtok: 80 }),
  },
  {
    providers: ["openai", "azure"],
    models: /^gpt-4o-mini-audio-preview/,
    source: "https://developers.openai.com/api/docs/models/gpt-4o-mini-audio-preview, as quoted by others",
    checked,
    why: "The list has no price for audio.",
    adjust: (price) => withMissing(price, { input_audio_mtok: 10, output_audio_mtok: 20 }),
  },
  {
    providers: ["openai", "azure"],
    models: /^gpt-oss-/,
    source: "https://developers.openai.com/api/docs/pricing",
    checked,
    why: "OpenAI does not sell its open models; the list has a host's price.",
    adjust: (price) => (gptOssInputs.includes(price["input_mtok"]) ? {} : price),
  },
  {
    providers: ["groq"],
    models: /whisper/,
    source: "https://console.groq.com/docs/speech-to-text",
    checked,
    why: "A request is charged as ten seconds at least: the seconds alone do not say what it cost.",
    adjust: () => ({}),
  },
];

/** The adjustments that change an entry, for an id at a provider. */
export function adjustmentsOf(
  { id, provider }: { readonly id: string; readonly provider: string },
  prices: ModelInfo["prices"],
): readonly Adjustment[] {
  const listed = Array.isArray(prices) ? prices.map((one) => one.prices) : [prices];
  return listAdjustments.filter(
    ({ providers, models, adjust }) =>
      providers.includes(provider) &&
      models.test(id) &&
      listed.some((price) => JSON.stringify(adjust(price)) !== JSON.stringify(price)),
  );
}

/** The published price for a listed one. */
export function adjusted(price: ModelPrice, adjustments: readonly Adjustment[]): ModelPrice {
  return adjustments.reduce((current, { adjust }) => adjust(current), price);
}

/** The schedule of an entry with adjustments that take effect later. */
export function adjustedSchedule(
  adjustments: readonly Adjustment[],
  scheduleWith: (adjustments: readonly Adjustment[]) => Schedule,
): Schedule {
  const startOf = ({ from }: Adjustment): number => (from === undefined ? -Infinity : Date.parse(from));
  const starts = [...new Set([-Infinity, ...adjustments.map(startOf)])].sort((one, other) => one - other);
  const periods = starts.map((fromMs) => ({
    fromMs,
    schedule: scheduleWith(adjustments.filter((one) => startOf(one) <= fromMs)),
  }));
  if (periods.length === 1) return periods[0]!.schedule;
  const periodAt = (atMs: number) => periods.findLast(({ fromMs }) => fromMs <= atMs)!;
  return {
    ratesAt: (atMs) => periodAt(atMs).schedule.ratesAt(atMs),
    sinceAt(atMs) {
      const { fromMs, schedule } = periodAt(atMs);
      const since = schedule.sinceAt(atMs);
      if (fromMs === -Infinity) return since;
      return since === null ? fromMs : Math.max(since, fromMs);
    },
    steadyUntil(atMs) {
      const next = periods.find(({ fromMs }) => fromMs > atMs)?.fromMs ?? Infinity;
      return Math.min(next, periodAt(atMs).schedule.steadyUntil(atMs));
    },
  };
}

function withMissing(price: ModelPrice, missing: Readonly<Record<string, number>>): ModelPrice {
  const left = Object.entries(missing).filter(([key]) => price[key] === undefined);
  return { ...price, ...Object.fromEntries(left) };
}

function withBounds(price: ModelPrice, boundOf: (start: number) => number): ModelPrice {
  const entries = Object.entries(price).map(([key, listed]) => {
    if (typeof listed !== "object") return [key, listed] as const;
    const tiers = listed.tiers.map((tier) => ({ ...tier, start: boundOf(tier.start) }));
    return [key, { base: listed.base, tiers }] as const;
  });
  return Object.fromEntries(entries);
}

function times(price: Listed, factor: number): Listed {
  if (typeof price === "number") return exact(price * factor);
  const tiers = price.tiers.map((tier) => ({ ...tier, price: exact(tier.price * factor) }));
  return { base: exact(price.base * factor), tiers };
}
