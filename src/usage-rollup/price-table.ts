import type { AggregateCost } from "../prices/cost-of-aggregate.ts";
import { attodollarsOf, PER_PICODOLLAR } from "../prices/money.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { COST_SLOTS } from "../prices/cost-fields.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import { COUNT_SLOTS, countSlots } from "../usage/count-fields.ts";
import { priceQuantities } from "./priced-sums.ts";
import { countTiersBelow } from "./input-tier.ts";
import type { PriceBreakpoints } from "./price-breakpoints.ts";
import { parsePriceKey, type PriceKey } from "./price-key.ts";
import type { Quantities, SummedRecords } from "./sum-records.ts";

/** Prices per quantity of a record, by price key, interval and input tier; the cost of a record is linear in its quantities. */
export interface PriceTable {
  readonly keys: readonly PriceKey[];
  /** `UInt32` over the columns of `usage_rollup`: index of the record's price key, from 1 on. */
  readonly keyIndex: Sql;
  /** `Int64` or `Int128`, such that sums over all records are exact; 0 for what has no price. */
  readonly cost: Sql;
  /** Each cost of `costFields`; they add up to `cost`. */
  readonly kinds: readonly KindOfCost[];
  /** 10^-18 USD per unit of `cost`. */
  readonly costUnit: number;
  /** `UInt8`: the record has usage; some of it has a price; some has none. */
  readonly isUsed: Sql;
  readonly isPriced: Sql;
  readonly isUnpriced: Sql;
  /** All records of a trace sum have the same entry. */
  readonly suitsTraceSums: boolean;
}

export interface KindOfCost {
  /** As `PriceTable.cost`. */
  readonly cost: Sql;
  /** `UInt8`: this cost of the record is known. */
  readonly isPriced: Sql;
}

/** Larger tables take longer to send than calls take to fold. */
const MAX_ENTRIES = 50_000;
const MAX_INT64 = 2 ** 63 - 1024;
/** Upper bound of sums that are computed in 64 bits, with room for rounding. */
const MAX_SUM = 2 ** 62;

interface Entry {
  /** Price of one of each quantity. */
  readonly prices: readonly number[];
  /** The part of each price that belongs to each cost, and whether that cost is known. */
  readonly kinds: readonly { readonly prices: readonly number[]; readonly isPriced: boolean }[];
  readonly isPriced: boolean;
  readonly isUnpriced: boolean;
}

/** Builds the table for summed records. `undefined` if it is too large, or a price exceeds 64 bits. */
export function priceTable(
  all: readonly SummedRecords[],
  { intervalStartsUs, prices }: Pick<Axes, "intervalStartsUs" | "prices">,
  book: PriceBook,
): Omit<PriceTable, "suitsTraceSums"> | undefined {
  const tiers = prices.inputs.length + 1;
  const keys = new Map<string, { readonly index: number; readonly key: PriceKey }>();
  const entries: (Entry | undefined)[] = [];
  let bound = 0;
  for (const { sums } of all) {
    for (const sum of sums) {
      const { priceKey: text, priceTier, atUs } = sum;
      if (text === "") continue;
      const { index, key } = keys.get(text) ?? { index: keys.size, key: parsePriceKey(text) };
      keys.set(text, { index, key });
      const at = (index * intervalStartsUs.length + intervalStartsUs.indexOf(atUs)) * tiers + priceTier;
      if (at >= MAX_ENTRIES) return undefined;
      const input = prices.inputs[priceTier] ?? prices.maxInput;
      const entry = (entries[at] ??= entryOf(key, { book, atUs, input }));
      if (entry.prices.some((price) => Math.abs(price) * PER_PICODOLLAR > MAX_INT64)) return undefined;
      bound += costBound(entry, sum);
    }
  }
  const isWhole = entries.every((entry) => entry?.prices.every((price) => Number.isInteger(price)) ?? true);
  const axes = { intervalStartsUs, prices, texts: [...keys.keys()] };
  return {
    keys: Array.from(keys.values(), ({ key }) => key),
    ...printed(Array.from(entries), axes, isWhole && bound < MAX_SUM),
  };
}

/** Columns of the quantities; those of units follow. */
const QUANTITIES = [
  "records",
  "uncached_prompt_tokens",
  "completion_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "billed_requests",
];

function entryOf(key: PriceKey, at: { book: PriceBook; atUs: number; input: number }): Entry {
  const costOf = (summed: Partial<Quantities>): AggregateCost =>
    priceQuantities(key, { ...NOTHING, ...summed }, at).costs!;
  const units = key.kinds?.units ?? [];
  const costs = key.exact
    ? [costOf({ records: 1 })]
    : [
        costOf({}),
        costOf({ uncached: 1 }),
        ...COUNTED.map((slot) => costOf({ counts: oneAt(slot) })),
        costOf({ chargedRequests: 1 }),
        ...units.map((_, index) => costOf({ units: units.map((_unit, place) => Number(place === index)) })),
      ];
  const known = costs[0]!;
  const kinds = known.map((cost, slot) => ({
    prices: costs.map((one) => amountOf(one[slot]!)),
    isPriced: cost !== null,
  }));
  return {
    prices: costs.map((_, place) => kinds.reduce((sum, { prices }) => sum + prices[place]!, 0)),
    kinds,
    isPriced: kinds.some(({ isPriced }) => isPriced),
    isUnpriced: known.includes(null),
  };
}

const NOTHING: Quantities = {
  records: 0,
  counts: new Float64Array(COUNT_SLOTS),
  uncached: 0,
  chargedRequests: 0,
  units: [],
};
const COUNTED = [countSlots.completionTokens, countSlots.cacheReadTokens, countSlots.cacheCreationTokens];

function oneAt(slot: number): Float64Array {
  const counts = new Float64Array(COUNT_SLOTS);
  counts[slot] = 1;
  return counts;
}

/** Upper bound of the summed costs of records with one entry, and of the amounts they are computed from. */
function costBound(
  { prices }: Entry,
  { records, counts, uncached, chargedRequests, units }: Quantities,
): number {
  const quantities = [records, uncached, ...COUNTED.map((slot) => counts[slot]!), chargedRequests, ...units];
  return prices.reduce((sum, price, place) => sum + Math.abs(price) * (quantities[place] ?? 0), 0);
}

function amountOf(products: AggregateCost[number]): number {
  return (products ?? []).reduce((sum, { quantity, price }) => sum + quantity * price, 0);
}

/** Indexes of the entries: price key, interval, and then input tier. */
interface Axes {
  readonly texts: readonly string[];
  readonly intervalStartsUs: readonly number[];
  readonly prices: PriceBreakpoints;
}

/** `isShort`: amounts are whole picodollars whose sum has 64 bits. */
function printed(
  entries: readonly (Entry | undefined)[],
  { texts, intervalStartsUs, prices }: Axes,
  isShort: boolean,
): Omit<PriceTable, "keys" | "suitsTraceSums"> {
  const keyIndex =
    texts.length === 0
      ? sql`toUInt32(0)`
      : sql`transform(price_key, ${param("Array(String)", texts)}, ${numbered(texts.length)}, toUInt32(0))`;
  const at = entryIndex({ intervalStartsUs, prices });
  const isUsed = sql`(price_key != '')`;
  const known = entries.filter((entry) => entry !== undefined);
  const flag = (of: (entry: Entry) => boolean): Sql => {
    if (!known.some(of)) return sql`0`;
    if (known.every(of)) return isUsed;
    const flags = entries.map((entry) => Number(entry !== undefined && of(entry)));
    return sql`(${isUsed} AND arrayElement(${param("Array(UInt64)", flags)}, ${at}) = 1)`;
  };
  const type = trusted(isShort ? "toInt64" : "toInt128");
  const costOf = (pricesOf: (entry: Entry) => readonly number[]): Sql => {
    const width = Math.max(0, ...known.map((entry) => entry.prices.length));
    const terms = Array.from({ length: width }, (_, place) => {
      const ofEntries = entries.map((entry) => (entry && pricesOf(entry)[place]) ?? 0);
      if (ofEntries.every((price) => price === 0)) return [];
      const quantity = QUANTITIES[place] ?? `units[${place - QUANTITIES.length + 1}]`;
      const amounts = param(
        "Array(Int64)",
        ofEntries.map(isShort ? String : (price) => String(attodollarsOf(price))),
      );
      return [sql`${type}(${trusted(quantity)}) * arrayElement(${amounts}, ${at})`];
    }).flat();
    return terms.length === 0 ? sql`${type}(0)` : sql`if(${isUsed}, ${join(terms, " + ")}, ${type}(0))`;
  };
  return {
    keyIndex,
    cost: costOf(({ prices }) => prices),
    kinds: Array.from({ length: COST_SLOTS }, (_, slot) => ({
      cost: costOf(({ kinds }) => kinds[slot]!.prices),
      isPriced: flag(({ kinds }) => kinds[slot]!.isPriced),
    })),
    costUnit: isShort ? PER_PICODOLLAR : 1,
    isUsed,
    isPriced: flag((entry) => entry.isPriced),
    isUnpriced: flag((entry) => entry.isUnpriced),
  };
}

/** Index of the entry of a record, from 1 on. Without arithmetic, the engine computes it once per price key. */
function entryIndex({ intervalStartsUs, prices }: Omit<Axes, "texts">): Sql {
  const [intervals, tiers] = [intervalStartsUs.length, prices.inputs.length + 1];
  if (intervals * tiers === 1) return sql`key_index`;
  const starts = param("Array(Int64)", intervalStartsUs);
  const interval = sql`indexOf(${starts}, roundDown(started_at_us, ${starts}))`;
  return sql`toUInt32(((key_index - 1) * ${trusted(String(intervals))} + ${interval} - 1) * ${trusted(String(tiers))}
    + ${countTiersBelow(prices.inputs)} + 1)`;
}

function numbered(length: number): Sql {
  return sql`arrayMap(index -> toUInt32(index), range(1, ${trusted(String(length + 1))}))`;
}
