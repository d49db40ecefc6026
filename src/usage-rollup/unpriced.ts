import { costFields, type CallCost } from "../prices/cost-fields.ts";
import { pricedUnits } from "../prices/units.ts";
import type { UsedSum } from "./priced-sums.ts";
import { COUNT_SLOTS, countFields, countsAt, countSlots } from "../usage/count-fields.ts";
import { addUnits, unitNames, unitsOf, type UnitCounts } from "../usage/units.ts";
import type { ProviderOf, Usage } from "../usage/usage.ts";

/** Cost that charges for a count. Requests and the total are kept with any unpriced usage. */
const COST_OF: Readonly<Partial<Record<keyof typeof countSlots, keyof CallCost>>> = {
  promptTokens: "prompt",
  completionTokens: "completion",
  cacheReadTokens: "cacheRead",
  cacheCreationTokens: "cacheCreation",
};

/** Missing-price key: LLM, provider, service tier. */
interface UnpricedKey {
  readonly llm: string;
  readonly provider: string | null;
  readonly tier: string | null;
}

export interface UnpricedUsage extends UnpricedKey {
  readonly counts: Float64Array;
  units: UnitCounts | undefined;
}

/** Usage left out of cost totals, by missing-price key. */
export class Unpriced {
  private readonly left = new Map<string, UnpricedUsage>();
  private readonly providerOf: ProviderOf;

  constructor(providerOf: ProviderOf) {
    this.providerOf = providerOf;
  }

  /** Adds the unpriced part of a usage, or of `times` equal ones, at least one cost of which is unknown. */
  add(usage: Usage, cost: CallCost, times = 1): void {
    const left = this.leftOf(usage);
    for (let slot = 0; slot < COUNT_SLOTS; slot++) {
      const { name } = countFields[slot]!;
      const kind = COST_OF[name];
      if (kind === undefined || cost[kind] === null) left.counts[slot]! += usage[name] * times;
    }
    if (usage.units === undefined) return;
    const units = unitsOf(unitNames, (unit) =>
      cost[pricedUnits[unit].cost] === null ? (usage.units?.[unit] ?? 0) * times : 0,
    );
    left.units = addUnits(left.units, units);
  }

  /** Adds the unpriced part of several usages. */
  addSum({ llm, service, units, counts, costs }: UsedSum): void {
    if (costs?.includes(null) !== true) return;
    const usage = { llm, service, units, cacheOutsidePrompt: false, ...countsAt(counts, 0) };
    const cost = Object.fromEntries(
      costFields.map(({ kind }, slot) => [kind, costs[slot] === null ? null : 0]),
    );
    this.add(usage, cost as CallCost);
  }

  /** Returns the entries, the largest first. */
  list(): readonly UnpricedUsage[] {
    const total = countSlots.totalTokens;
    return [...this.left]
      .sort(([one, a], [other, b]) => b.counts[total]! - a.counts[total]! || (one < other ? -1 : 1))
      .map(([, left]) => left);
  }

  private leftOf(usage: Usage): UnpricedUsage {
    const { llm, service } = usage;
    const [provider, tier] = [this.providerOf(llm, service?.provider), service?.tier || null];
    const key = JSON.stringify([llm, provider, tier]);
    const known = this.left.get(key);
    if (known !== undefined) return known;
    const left = { llm, provider, tier, counts: new Float64Array(COUNT_SLOTS), units: undefined };
    this.left.set(key, left);
    return left;
  }
}
