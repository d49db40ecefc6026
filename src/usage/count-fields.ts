/**
 * The counts of a usage entry, in the order in which they are stored, added and printed. Everything that depends on this
 * order takes it from here.
 */
export const countFields = [
  { name: "requests", wire: "requests" },
  { name: "promptTokens", wire: "prompt_tokens" },
  { name: "completionTokens", wire: "completion_tokens" },
  { name: "totalTokens", wire: "total_tokens" },
  { name: "cacheReadTokens", wire: "cache_read_input_tokens" },
  { name: "cacheCreationTokens", wire: "cache_creation_input_tokens" },
] as const;

type CountField = (typeof countFields)[number];
type CountName = CountField["name"];
/** The names of the counts in requests and responses. */
export type CountWire = CountField["wire"];

/** Usage counts: non-negative integers. */
export type Counts = { readonly [Name in CountName]: number };

export const COUNT_SLOTS = countFields.length;

/** The index of each count. */
export const countSlots = Object.fromEntries(countFields.map(({ name }, slot) => [name, slot])) as {
  readonly [Name in CountName]: number;
};

/** The counts at consecutive indices of an array. Written out because the roll-up makes one for every entry. */
export function countsAt(row: ArrayLike<number>, at: number): Counts {
  return {
    requests: row[at + countSlots.requests]!,
    promptTokens: row[at + countSlots.promptTokens]!,
    completionTokens: row[at + countSlots.completionTokens]!,
    totalTokens: row[at + countSlots.totalTokens]!,
    cacheReadTokens: row[at + countSlots.cacheReadTokens]!,
    cacheCreationTokens: row[at + countSlots.cacheCreationTokens]!,
  };
}

/** Whether all counts of an entry are 0, where those of several entries follow each other. */
export function areZero(counts: ArrayLike<number>, entry = 0): boolean {
  for (let at = entry * COUNT_SLOTS; at < (entry + 1) * COUNT_SLOTS; at++) if (counts[at]! > 0) return false;
  return true;
}

/** The counts in order. */
export function countRow(counts: Counts): number[] {
  return countFields.map(({ name }) => counts[name]);
}

/** The counts with their names in responses. Written out because the usage rollup does it for every record. */
export function countMembers(counts: Counts): Record<CountWire, number> {
  return {
    requests: counts.requests,
    prompt_tokens: counts.promptTokens,
    completion_tokens: counts.completionTokens,
    total_tokens: counts.totalTokens,
    cache_read_input_tokens: counts.cacheReadTokens,
    cache_creation_input_tokens: counts.cacheCreationTokens,
  };
}
