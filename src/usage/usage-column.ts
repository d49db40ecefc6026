import { COUNT_SLOTS, countRow, countSlots, countsAt } from "./count-fields.ts";
import type { UnitCounts } from "./units.ts";
import type { Service, Usage } from "./usage.ts";

const FIRST_COUNT = 1;
const CACHE_OUTSIDE_PROMPT = FIRST_COUNT + COUNT_SLOTS;
const MORE = CACHE_OUTSIDE_PROMPT + 1;

/** Positions of values in a row of the column, from 1 on as in ClickHouse. */
export const placesInRow = {
  llm: 1,
  totalTokens: FIRST_COUNT + countSlots.totalTokens + 1,
  provider: MORE + 1,
};

type Plain = string | number;
/** Provider, service tier, and units besides the counts. */
type More = readonly [provider: string, tier: string, units: UnitCounts];

/**
 * The column `usage`: one row per LLM, `[llm, …counts, cache_outside_prompt]`. If any of `provider, tier, units` is known,
 * all three follow.
 */
export function encodeUsage(usages: readonly Usage[]): string {
  return JSON.stringify(usages.map(rowOf));
}

function rowOf(usage: Usage): readonly (Plain | UnitCounts)[] {
  const { llm, units = {}, service = { provider: "", tier: "" } } = usage;
  const row = [llm.toWellFormed(), ...countRow(usage), usage.cacheOutsidePrompt ? 1 : 0];
  const more: More = [service.provider.toWellFormed(), service.tier.toWellFormed(), units];
  return usage.units === undefined && usage.service === undefined ? row : [...row, ...more];
}

export function decodeUsage(column: string): readonly Usage[] {
  if (column === "" || column === "[]") return [];
  return (JSON.parse(column) as [...Plain[], ...More][]).map((row) => {
    const plain = row.slice(0, MORE) as Plain[];
    const [provider = "", tier = "", units = {}] = row.slice(MORE) as unknown as Partial<More>;
    return {
      llm: plain[0] as string,
      ...countsAt(plain as number[], FIRST_COUNT),
      cacheOutsidePrompt: plain[CACHE_OUTSIDE_PROMPT] === 1,
      ...(Object.keys(units).length > 0 && { units }),
      ...((provider !== "" || tier !== "") && { service: { provider, tier } }),
    };
  });
}

/** Provider and tier as in the column, `"groq","priority"`; null if both are empty. */
export function serviceInColumn(text: string): Service | null {
  const [provider, tier] = JSON.parse(`[${text}]`) as [string, string];
  return provider === "" && tier === "" ? null : { provider, tier };
}

/** The units as in the column, `{"web_searches":3}`; undefined if there are none. */
export function unitsInColumn(text: string): UnitCounts | undefined {
  return text === "{}" ? undefined : (JSON.parse(text) as UnitCounts);
}
