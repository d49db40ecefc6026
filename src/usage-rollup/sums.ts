import type { LatencySums } from "./sum-records.ts";
import type { StatedCost } from "../usage/stated-cost.ts";
import type { AggregateCost } from "../prices/cost-of-aggregate.ts";
import { addUsd, knownOf, usd, usdProduct, type Money, type Usd } from "../prices/money.ts";
import { PER_USD } from "../prices/picodollars.ts";
import { resize } from "../shared/buffers.ts";
import {
  COST_MEMBERS,
  COUNT_MEMBERS,
  PASSED_SLOT,
  RATED_SLOT,
  TRACE_COUNT_MEMBERS,
} from "./total-members.ts";

/** Counts after those of `COUNT_MEMBERS`: usages that state a cost, those of `TRACE_COUNT_MEMBERS`, and what has no price. */
const USAGES_STATED = COUNT_MEMBERS.length;
const TRACES = USAGES_STATED + 1;
/** Requests that have no price, or only a part of one; at least one for each usage. */
export const UNPRICED_SLOT = TRACES + TRACE_COUNT_MEMBERS.length;
const WASTED_UNPRICED = UNPRICED_SLOT + 1;
const RATED_UNPRICED = PASSED_SLOT + 1;
const COUNT_SLOTS = RATED_UNPRICED + 1;
/** Offset of the usage counts, after calls and errors. */
const USAGE_SLOT = 2;
/** Cost members, except the total. */
const COST_SLOTS = COST_MEMBERS.length - 1;
/** These, the stated and the wasted cost, and that of what is rated. */
const AMOUNTS = COST_SLOTS + 3;
const STATED = COST_SLOTS;
const WASTED = COST_SLOTS + 1;
const RATED_COST = COST_SLOTS + 2;
const PICODOLLARS_PER_TICK = 100;
const FIRST_ROWS = 64;

/** Sums of usages and traces. */
export interface SummedRow {
  /** In the order of `Sums.countOf`. */
  readonly counts: readonly number[];
  readonly statedTicks: number;
  /** In the order of `costFields`; null if nothing has a price. */
  readonly costs: readonly (Usd | null)[];
  readonly wasted: Usd | null;
}

/**
 * Sums of usage and costs, in rows of flat columns. Integers up to 2^53 and costs are exact, so the result does not depend on
 * the order of additions.
 */
export class Sums {
  length = 0;
  private readonly withCosts: boolean;
  private counts: Float64Array = new Float64Array(FIRST_ROWS * COUNT_SLOTS);
  /** Number of known amounts, of one usage or several. */
  private priced: Float64Array;
  private dollars: Float64Array;
  private picodollars: Float64Array;
  private latencies: Float64Array = new Float64Array(FIRST_ROWS * 4);

  constructor({ withCosts }: { withCosts: boolean }) {
    this.withCosts = withCosts;
    const size = withCosts ? FIRST_ROWS * AMOUNTS : 0;
    this.priced = new Float64Array(size);
    this.dollars = new Float64Array(size);
    this.picodollars = new Float64Array(size);
  }

  static ofRows(rows: number, options: { withCosts: boolean }): Sums {
    const sums = new Sums(options);
    for (let row = 0; row < rows; row++) sums.addRow();
    return sums;
  }

  addRow(): number {
    if (this.length * COUNT_SLOTS === this.counts.length) this.grow();
    return this.length++;
  }

  addCalls(row: number, calls: number, errors: number): void {
    this.counts[row * COUNT_SLOTS]! += calls;
    this.counts[row * COUNT_SLOTS + 1]! += errors;
  }

  addCall(row: number, isError: boolean): void {
    this.counts[row * COUNT_SLOTS]! += 1;
    if (isError) this.counts[row * COUNT_SLOTS + 1]! += 1;
  }

  /** Adds the counts at index `at` of `from`, of one or several usages. */
  addUsage(row: number, from: Float64Array, at: number): void {
    const into = row * COUNT_SLOTS + USAGE_SLOT;
    for (let slot = 0; slot < USAGES_STATED - USAGE_SLOT; slot++)
      this.counts[into + slot]! += from[at + slot]!;
  }

  /** Adds the costs of an added usage of `requests` in picodollars; NaN without a price. Returns true if all are known. */
  addCosts(row: number, costs: Float64Array, requests = 1): boolean {
    let isKnown = true;
    for (let slot = 0; slot < COST_SLOTS; slot++) {
      const cost = costs[slot]!;
      if (Number.isNaN(cost)) {
        isKnown = false;
        continue;
      }
      const at = row * AMOUNTS + slot;
      this.priced[at]! += 1;
      const sum = this.picodollars[at]! + cost;
      if (sum < PER_USD) this.picodollars[at] = sum;
      else this.addUsd(at, usd(cost));
    }
    if (!isKnown) this.counts[row * COUNT_SLOTS + UNPRICED_SLOT]! += Math.max(1, requests);
    return isKnown;
  }

  /** Adds the costs of several usages of `requests`, each known for all of them or for none. */
  addSummedCosts(row: number, costs: AggregateCost, requests = 1): boolean {
    for (const [slot, products] of costs.entries()) {
      if (products === null) continue;
      const at = row * AMOUNTS + slot;
      this.priced[at]! += 1;
      for (const { quantity, price } of products) this.addUsd(at, usdProduct(quantity, price));
    }
    const isKnown = !costs.includes(null);
    if (!isKnown) this.counts[row * COUNT_SLOTS + UNPRICED_SLOT]! += Math.max(1, requests);
    return isKnown;
  }

  /** Adds the costs of an added usage of a failed call, or below one, in picodollars; NaN without a price. */
  addWasted(row: number, costs: Float64Array): void {
    const at = row * AMOUNTS + WASTED;
    for (const cost of costs) {
      if (Number.isNaN(cost)) {
        this.counts[row * COUNT_SLOTS + WASTED_UNPRICED]! += 1;
        continue;
      }
      this.priced[at]! += 1;
      this.addUsd(at, usd(cost));
    }
  }

  addTrace(row: number, { hasFailed, hasFailures }: { hasFailed: boolean; hasFailures: boolean }): void {
    const at = row * COUNT_SLOTS + TRACES;
    this.counts[at]! += 1;
    this.counts[at + 1]! += Number(hasFailed);
    this.counts[at + 2]! += Number(hasFailures);
  }

  /** Counts a rated call or trace. */
  addRated(row: number, passed: boolean): void {
    this.counts[row * COUNT_SLOTS + RATED_SLOT]! += 1;
    if (passed) this.counts[row * COUNT_SLOTS + PASSED_SLOT]! += 1;
  }

  /** Adds a cost of a rated call or trace. */
  addRatedCost(row: number, { usd: amount, unpriced }: Money): void {
    if (unpriced) this.counts[row * COUNT_SLOTS + RATED_UNPRICED]! += 1;
    if (amount === null || !this.withCosts) return;
    this.priced[row * AMOUNTS + RATED_COST]! += 1;
    this.addUsd(row * AMOUNTS + RATED_COST, amount);
  }

  addSummed(row: number, { counts, statedTicks, costs, wasted }: SummedRow): void {
    counts.forEach((count, slot) => (this.counts[row * COUNT_SLOTS + slot]! += count));
    if (!this.withCosts) return;
    this.addStated(row, { ticks: statedTicks, usages: 0 });
    [...costs, null, wasted].forEach((amount, slot) => {
      if (amount === null) return;
      this.priced[row * AMOUNTS + slot]! += 1;
      this.addUsd(row * AMOUNTS + slot, amount);
    });
  }

  /** Adds stated costs. `usages` is 0 for what a wrapper states beyond its children, if these state costs too. */
  addStated(row: number, { ticks, usages }: StatedCost): void {
    this.counts[row * COUNT_SLOTS + USAGES_STATED]! += usages;
    if (ticks > 0) this.addUsd(row * AMOUNTS + STATED, usdProduct(ticks, PICODOLLARS_PER_TICK));
  }

  /** Adds a row of other sums, which must have costs if these have. */
  addFrom(others: Sums, from: number, row: number): void {
    for (let slot = 0; slot < COUNT_SLOTS; slot++)
      this.counts[row * COUNT_SLOTS + slot]! += others.counts[from * COUNT_SLOTS + slot]!;
    const latencies = others.latenciesOf(from);
    if (latencies.count > 0) this.addLatencies(row, latencies);
    if (!this.withCosts) return;
    for (let slot = 0; slot < AMOUNTS; slot++) {
      const other = from * AMOUNTS + slot;
      this.priced[row * AMOUNTS + slot]! += others.priced[other]!;
      this.addUsd(row * AMOUNTS + slot, others.usdAt(other));
    }
  }

  /** Returns the counts of `COUNT_MEMBERS`, then how many usages state a cost, then those of `TRACE_COUNT_MEMBERS`; what is rated from `RATED_SLOT` on. */
  countOf(row: number, slot: number): number {
    return this.counts[row * COUNT_SLOTS + slot]!;
  }

  /** Returns the costs in the order of `COST_MEMBERS`: 0 without usage, null if none of it has a price; then the stated and the wasted one. */
  costOf(row: number, slot: number): Usd | null {
    return slot === COST_SLOTS + 1 ? this.statedCostOf(row) : knownOf(this.moneyOf(row, slot));
  }

  /** Returns the same, except the stated cost, with what has no price. */
  moneyOf(row: number, slot: number): Money {
    if (slot > COST_SLOTS)
      return { usd: this.pricedUsd(row, WASTED), unpriced: this.countOf(row, WASTED_UNPRICED) > 0 };
    return {
      usd: slot === COST_SLOTS ? this.totalUsd(row) : this.pricedUsd(row, slot),
      unpriced: this.isPartial(row),
    };
  }

  /** Returns the cost of what is rated: 0 without usage, null if none of it has a price. */
  ratedCostOf(row: number): Usd | null {
    const unpriced = this.countOf(row, RATED_UNPRICED) > 0;
    return knownOf({ usd: this.pricedUsd(row, RATED_COST), unpriced });
  }

  /** True if a usage of the row has no price, so that its costs are lower bounds. */
  isPartial(row: number): boolean {
    return this.countOf(row, UNPRICED_SLOT) > 0;
  }

  latenciesOf(row: number): LatencySums {
    const [count, sum, min, max] = this.latencies.subarray(row * 4, row * 4 + 4);
    return { count: count!, sum: sum!, min: min!, max: max! };
  }

  private statedCostOf(row: number): Usd | null {
    const stated = this.usdAt(row * AMOUNTS + STATED);
    const isStated = this.countOf(row, USAGES_STATED) > 0 || stated.dollars > 0 || stated.picodollars > 0;
    return isStated ? stated : null;
  }

  private totalUsd(row: number): Usd | null {
    let total: Usd | null = null;
    for (let slot = 0; slot < COST_SLOTS; slot++) {
      const cost = this.pricedUsd(row, slot);
      if (cost !== null) total = total === null ? cost : addUsd(total, cost);
    }
    return total;
  }

  private pricedUsd(row: number, slot: number): Usd | null {
    const at = row * AMOUNTS + slot;
    return this.priced[at]! > 0 ? this.usdAt(at) : null;
  }

  private usdAt(at: number): Usd {
    return { dollars: this.dollars[at]!, picodollars: this.picodollars[at]! };
  }

  private addUsd(at: number, amount: Usd): void {
    const { dollars, picodollars } = addUsd(this.usdAt(at), amount);
    this.dollars[at] = dollars;
    this.picodollars[at] = picodollars;
  }

  addLatencies(row: number, { count, sum, min, max }: LatencySums): void {
    const { latencies } = this;
    const at = row * 4;
    const isFirst = latencies[at] === 0;
    latencies[at]! += count;
    latencies[at + 1]! += sum;
    latencies[at + 2] = isFirst ? min : Math.min(latencies[at + 2]!, min);
    latencies[at + 3] = isFirst ? max : Math.max(latencies[at + 3]!, max);
  }

  private grow(): void {
    this.counts = doubled(this.counts);
    this.priced = doubled(this.priced);
    this.dollars = doubled(this.dollars);
    this.picodollars = doubled(this.picodollars);
    this.latencies = doubled(this.latencies);
  }
}

function doubled(array: Float64Array): Float64Array {
  return resize(array, new Float64Array(array.length * 2));
}
