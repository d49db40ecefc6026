/**
 * What a call may use besides plain tokens, with the names of the built-in price list. Those that end in `_tokens` are
 * parts of the counts; the others are counted on their own. Source: the unit registry of `@pydantic/genai-prices`.
 */
export const unitNames = [
  "cache_write_1h_tokens",
  "cache_audio_read_tokens",
  "cache_image_read_tokens",
  "input_audio_tokens",
  "input_image_tokens",
  "input_video_tokens",
  "output_audio_tokens",
  "output_image_tokens",
  "output_video_tokens",
  "output_reasoning_tokens",
  "output_citation_tokens",
  "web_searches",
  "social_searches",
  "storage_searches",
  "rerank_searches",
  "code_executions",
  "input_audio_seconds",
  "input_document_pages",
] as const;

export type Unit = (typeof unitNames)[number];

/** How much of each unit was used: positive integers. An absent unit was not used. */
export type UnitCounts = Readonly<Partial<Record<Unit, number>>>;

/** Whether any of them is not part of a count: the others say nothing where the counts are 0. */
export function hasNonTokenUnits(units: UnitCounts | undefined): boolean {
  return units !== undefined && Object.keys(units).some((unit) => !unit.endsWith("_tokens"));
}

/** Units of several calls together. */
export function addUnits(one: UnitCounts | undefined, other: UnitCounts | undefined): UnitCounts | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return unitsOf((unit) => (one[unit] ?? 0) + (other[unit] ?? 0));
}

/** `units` minus `taken`, without negative results. */
export function lessUnits(
  units: UnitCounts | undefined,
  taken: UnitCounts | undefined,
): UnitCounts | undefined {
  if (units === undefined || taken === undefined) return units;
  return unitsOf((unit) => (units[unit] ?? 0) - (taken[unit] ?? 0));
}

/** The units with a positive count; undefined if there are none. */
export function unitsOf(countOf: (unit: Unit) => number): UnitCounts | undefined {
  const used = unitNames.flatMap((unit) => {
    const count = countOf(unit);
    return count > 0 ? [[unit, count] as const] : [];
  });
  return used.length === 0 ? undefined : Object.fromEntries(used);
}
