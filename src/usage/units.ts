/**
 * What a call may use beside plain tokens, by the names of the built-in price list. Those that end in `_tokens` are parts
 * of the counts; the others stand for themselves. Source: the unit registry of `@pydantic/genai-prices`.
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

/** How much of each unit was used: whole, positive; a unit that is absent was not used. */
export type UnitCounts = Readonly<Partial<Record<Unit, number>>>;

/** Units of several calls together. */
export function addUnits(one: UnitCounts | undefined, other: UnitCounts | undefined): UnitCounts | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return unitsOf((unit) => (one[unit] ?? 0) + (other[unit] ?? 0));
}

/** What of `units` is more than `taken`. */
export function lessUnits(
  units: UnitCounts | undefined,
  taken: UnitCounts | undefined,
): UnitCounts | undefined {
  if (units === undefined || taken === undefined) return units;
  return unitsOf((unit) => (units[unit] ?? 0) - (taken[unit] ?? 0));
}

/** The units for which a count is positive; undefined when there is none. */
export function unitsOf(countOf: (unit: Unit) => number): UnitCounts | undefined {
  const used = unitNames.flatMap((unit) => {
    const count = countOf(unit);
    return count > 0 ? [[unit, count] as const] : [];
  });
  return used.length === 0 ? undefined : Object.fromEntries(used);
}
