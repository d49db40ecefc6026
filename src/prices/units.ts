import type { Unit, UnitCounts } from "../usage/units.ts";
import type { CostKind } from "./cost-fields.ts";

interface PricedUnit {
  readonly cost: CostKind;
  /** The name of the unit's price in the built-in list, and the quantity it is for. */
  readonly priceKey: string;
  readonly per: number;
}

/**
 * Where each unit is charged. It is either part of one of the four token counts, and costs its own price instead of that
 * count's, or part of none (`other`).
 */
export const pricedUnits = {
  cache_write_1h_tokens: { cost: "cacheCreation", priceKey: "cache_write_1h_mtok", per: 1_000_000 },
  cache_audio_read_tokens: { cost: "cacheRead", priceKey: "cache_audio_read_mtok", per: 1_000_000 },
  cache_image_read_tokens: { cost: "cacheRead", priceKey: "cache_image_read_mtok", per: 1_000_000 },
  input_audio_tokens: { cost: "prompt", priceKey: "input_audio_mtok", per: 1_000_000 },
  input_image_tokens: { cost: "prompt", priceKey: "input_image_mtok", per: 1_000_000 },
  input_video_tokens: { cost: "prompt", priceKey: "input_video_mtok", per: 1_000_000 },
  output_audio_tokens: { cost: "completion", priceKey: "output_audio_mtok", per: 1_000_000 },
  output_image_tokens: { cost: "completion", priceKey: "output_image_mtok", per: 1_000_000 },
  output_video_tokens: { cost: "completion", priceKey: "output_video_mtok", per: 1_000_000 },
  output_reasoning_tokens: { cost: "completion", priceKey: "output_reasoning_mtok", per: 1_000_000 },
  output_citation_tokens: { cost: "completion", priceKey: "output_citation_mtok", per: 1_000_000 },
  web_searches: { cost: "other", priceKey: "web_searches_kcount", per: 1_000 },
  social_searches: { cost: "other", priceKey: "social_searches_kcount", per: 1_000 },
  storage_searches: { cost: "other", priceKey: "storage_searches_kcount", per: 1_000 },
  rerank_searches: { cost: "other", priceKey: "rerank_searches_kcount", per: 1_000 },
  code_executions: { cost: "other", priceKey: "code_executions_kcount", per: 1_000 },
  input_audio_seconds: { cost: "other", priceKey: "input_audio_hours", per: 3_600 },
  input_document_pages: { cost: "other", priceKey: "input_document_kpages", per: 1_000 },
} as const satisfies Record<Unit, PricedUnit>;

/** The cost of one of each unit, in picodollars. An absent unit has no price of its own. */
export type UnitPrices = Readonly<Partial<Record<Unit, number>>>;

/** For cached tokens of a kind, the count of all input tokens of that kind. */
export const wholeOfCached: Partial<Record<Unit, Unit>> = {
  cache_audio_read_tokens: "input_audio_tokens",
  cache_image_read_tokens: "input_image_tokens",
};
const cachedPartOf = new Map(Object.entries(wholeOfCached).map(([part, whole]) => [whole, part as Unit]));

/** How much of a unit is charged as this unit: what was read from the cache is charged there. */
export function chargedCount(unit: Unit, counts: UnitCounts): number {
  const cached = cachedPartOf.get(unit);
  return (counts[unit] ?? 0) - (cached === undefined ? 0 : (counts[cached] ?? 0));
}
