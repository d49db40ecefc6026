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

/**
 * A stated cost, kept among the units so that it is stored, added and subtracted like them, but never priced or printed as
 * one: its amount in 10^-10 USD, and how many usages state one.
 */
const statedUnits = ["stated_ticks", "stated_usages"] as const;

type StatedUnit = (typeof statedUnits)[number];
export const unitsAndStated = [...unitNames, ...statedUnits] as const;

/** How much of each unit was used: positive integers. An absent unit was not used. */
export type UnitCounts = Readonly<Partial<Record<Unit | StatedUnit, number>>>;
/** Only units that have a price. */
export type PricedUnits = Readonly<Partial<Record<Unit, number>>>;

/** Whether any of them is not part of a count: the others say nothing where the counts are 0. */
export function hasNonTokenUnits(units: UnitCounts | undefined): boolean {
  return units !== undefined && Object.keys(units).some((unit) => !unit.endsWith("_tokens"));
}

/** The units without the stated cost; undefined if there are none. */
export function pricedUnitsOf(units: UnitCounts | undefined): PricedUnits | undefined {
  if (units?.stated_ticks === undefined && units?.stated_usages === undefined) return units;
  for (const unit in units)
    if (unit !== "stated_ticks" && unit !== "stated_usages")
      return unitsOf(unitNames, (name) => units[name] ?? 0);
  return undefined;
}

/** Units of several calls together. */
export function addUnits(one: UnitCounts | undefined, other: UnitCounts | undefined): UnitCounts | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: Record<string, number> = { ...one };
  for (const unit in other) {
    // rare; keeps the order of the names
    if (sum[unit] === undefined)
      return unitsOf(unitsAndStated, (name) => (one[name] ?? 0) + (other[name] ?? 0));
    sum[unit] += other[unit as keyof UnitCounts]!;
  }
  return sum;
}

/** `units` minus `taken`, without negative results. */
export function lessUnits(
  units: UnitCounts | undefined,
  taken: UnitCounts | undefined,
): UnitCounts | undefined {
  if (units === undefined || taken === undefined) return units;
  return unitsOf(unitsAndStated, (unit) => (units[unit] ?? 0) - (taken[unit] ?? 0));
}

/** Selects the named units with a positive count; undefined if there are none. */
export function unitsOf<Name extends Unit | StatedUnit>(
  names: readonly Name[],
  countOf: (unit: Name) => number,
): Readonly<Partial<Record<Name, number>>> | undefined {
  const used: Partial<Record<Name, number>> = {};
  let isUsed = false;
  for (const unit of names) {
    const count = countOf(unit);
    if (!(count > 0)) continue;
    used[unit] = count;
    isUsed = true;
  }
  return isUsed ? used : undefined;
}
