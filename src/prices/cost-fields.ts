/** The four costs of tokens, and the names that responses have for them. */
export const tokenCostFields = [
  { kind: "prompt", wire: "prompt_tokens_total_cost" },
  { kind: "completion", wire: "completion_tokens_total_cost" },
  { kind: "cacheRead", wire: "cache_read_input_tokens_total_cost" },
  { kind: "cacheCreation", wire: "cache_creation_input_tokens_total_cost" },
] as const;

/** All costs of a call, in the order in which they are added and printed: those of tokens, and what is none. */
export const costFields = [...tokenCostFields, { kind: "other", wire: "other_cost" }] as const;

export type CostKind = (typeof costFields)[number]["kind"];
/** The names that responses have for the four costs of tokens. */
export type TokenCostWire = (typeof tokenCostFields)[number]["wire"];

/**
 * What a call costs, in picodollars. `null`: the price is not known; never 0 for that. `prompt` is of the tokens that did
 * not come from the cache alone; `other` of what is no token: requests and searches.
 */
export type CallCost = { readonly [Kind in CostKind]: number | null };

export const COST_SLOTS = costFields.length;

const costSlots = Object.fromEntries(costFields.map(({ kind }, slot) => [kind, slot])) as {
  readonly [Kind in CostKind]: number;
};

/** Puts costs into a row, unknown ones as NaN. Written out because the roll-up does it for every entry. */
export function costsInto(row: Float64Array, cost: CallCost): void {
  row[costSlots.prompt] = cost.prompt ?? Number.NaN;
  row[costSlots.completion] = cost.completion ?? Number.NaN;
  row[costSlots.cacheRead] = cost.cacheRead ?? Number.NaN;
  row[costSlots.cacheCreation] = cost.cacheCreation ?? Number.NaN;
  row[costSlots.other] = cost.other ?? Number.NaN;
}
