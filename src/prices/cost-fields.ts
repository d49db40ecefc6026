/** The four token costs and their names in responses. */
export const tokenCostFields = [
  { kind: "prompt", wire: "prompt_tokens_total_cost" },
  { kind: "completion", wire: "completion_tokens_total_cost" },
  { kind: "cacheRead", wire: "cache_read_input_tokens_total_cost" },
  { kind: "cacheCreation", wire: "cache_creation_input_tokens_total_cost" },
] as const;

/** All costs of a call, in the order in which they are added and printed: those of tokens, and that of other units. */
export const costFields = [...tokenCostFields, { kind: "other", wire: "other_cost" }] as const;

export type CostKind = (typeof costFields)[number]["kind"];
/** The names of the four token costs in responses. */
export type TokenCostWire = (typeof tokenCostFields)[number]["wire"];

/**
 * The cost of a call, in picodollars. `null`: the price is unknown; it is never 0 for that. `prompt` only covers tokens that
 * did not come from the cache; `other` covers what is not a token: requests and searches.
 */
export type CallCost = { readonly [Kind in CostKind]: number | null };

export const COST_SLOTS = costFields.length;

export const costSlots = Object.fromEntries(costFields.map(({ kind }, slot) => [kind, slot])) as {
  readonly [Kind in CostKind]: number;
};

/** Writes costs into a row, NaN for unknown ones. Written out because the roll-up does it for every entry. */
export function costsInto(row: Float64Array, cost: CallCost): void {
  row[costSlots.prompt] = cost.prompt ?? Number.NaN;
  row[costSlots.completion] = cost.completion ?? Number.NaN;
  row[costSlots.cacheRead] = cost.cacheRead ?? Number.NaN;
  row[costSlots.cacheCreation] = cost.cacheCreation ?? Number.NaN;
  row[costSlots.other] = cost.other ?? Number.NaN;
}
