import type { ModelInfo, ModelPrice, TieredPrices } from "@pydantic/genai-prices";
import { assertNever } from "../../shared/assert-never.ts";
import { exact } from "../picodollars.ts";
import { inPeriods, type Schedule } from "../schedule.ts";
import { corrections, type Adjustment } from "./corrections.ts";

type Listed = number | TieredPrices;

/** The published price, given the list's. Returns the same object if the list is right. */
export function adjust(price: ModelPrice, { change }: Adjustment): ModelPrice {
  switch (change.kind) {
    case "tier_start":
      return withBounds(price, (start) => (start === change.listed ? change.published : start));
    case "cache_write_1h": {
      const { input_mtok: input, cache_write_mtok: write, cache_write_1h_mtok: hour } = price;
      if (input === undefined || write === undefined || hour !== undefined) return price;
      return { ...price, cache_write_1h_mtok: times(input, change.factor_of_input) };
    }
    case "missing":
      return { ...price, ...change.prices, ...price };
    case "unknown":
      return change.input_mtok?.every((input) => input !== price["input_mtok"]) === true ? price : {};
    default:
      return assertNever(change);
  }
}

/** The adjustments that change an entry, for an id at a provider. */
export function adjustmentsOf(
  { id, provider }: { readonly id: string; readonly provider: string },
  prices: ModelInfo["prices"],
): readonly Adjustment[] {
  const listed = Array.isArray(prices) ? prices.map((one) => one.prices) : [prices];
  return corrections.adjustments.filter(
    (one) =>
      one.providers.includes(provider) &&
      one.matching.test(id) &&
      listed.some((price) => JSON.stringify(adjust(price, one)) !== JSON.stringify(price)),
  );
}

/** The published price for a listed one. */
export function adjusted(price: ModelPrice, adjustments: readonly Adjustment[]): ModelPrice {
  return adjustments.reduce(adjust, price);
}

/** The schedule of an entry with adjustments that take effect later. */
export function adjustedSchedule(
  adjustments: readonly Adjustment[],
  scheduleWith: (adjustments: readonly Adjustment[]) => Schedule,
): Schedule {
  const startOf = ({ from }: Adjustment): number =>
    from === undefined ? -Infinity : Date.parse(from) * 1000;
  const from = (fromUs: number): Schedule =>
    scheduleWith(adjustments.filter((one) => startOf(one) <= fromUs));
  const starts = [...new Set(adjustments.map(startOf))]
    .filter(Number.isFinite)
    .sort((one, other) => one - other);
  return inPeriods(
    from(-Infinity),
    starts.map((fromUs) => ({ fromUs, schedule: from(fromUs) })),
  );
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
