import { release } from "../../shared/buffers.ts";
import { NONE } from "../table/call-table.ts";
import { COST_SLOTS } from "../../prices/cost-fields.ts";
import { areZero, COUNT_SLOTS } from "../../usage/count-fields.ts";
import { addUnits, lessUnits, pricedUnitsOf, type UnitCounts } from "../../usage/units.ts";

/**
 * Totals of calls: per call a linked list of entries, one per LLM, in flat arrays. A complete list never changes, so a call
 * without own usage shares its only child's list. Costs are in picodollars; NaN if unknown. `withParts`: entries count their
 * contributions, in total and per cost, so that contributions can be subtracted.
 */
export class Totals {
  readonly heads: Int32Array;
  readonly withCosts: boolean;
  readonly withParts: boolean;
  length = 0;
  readonly llms: Int32Array;
  readonly next: Int32Array;
  readonly counts: Float64Array;
  readonly costs: Float64Array;
  /** Number of contributions with an unknown cost. */
  readonly unpriced: Int32Array;
  readonly parts: Int32Array;
  readonly pricedContributions: Int32Array;
  /** Units besides tokens, which few entries have. */
  readonly units = new Map<number, UnitCounts>();

  /** `size`: maximum entries; memory of unused entries is never touched. */
  constructor(calls: number, size: number, kept: { costs: boolean; parts: boolean }) {
    this.heads = new Int32Array(calls).fill(NONE);
    this.withCosts = kept.costs;
    this.withParts = kept.parts;
    this.llms = new Int32Array(size);
    this.next = new Int32Array(size);
    this.counts = new Float64Array(size * COUNT_SLOTS);
    this.costs = new Float64Array(kept.costs ? size * COST_SLOTS : 0);
    this.unpriced = new Int32Array(kept.costs ? size : 0);
    this.parts = new Int32Array(kept.parts ? size : 0);
    this.pricedContributions = new Int32Array(kept.parts && kept.costs ? size * COST_SLOTS : 0);
  }

  /** Prepends a new entry, with zeros and unknown costs, to a call's list. */
  add(call: number, llm: number): number {
    if (this.length === this.llms.length) throw new Error("entry bound exceeded");
    const entry = this.length++;
    this.llms[entry] = llm;
    if (this.withCosts) this.costs.fill(Number.NaN, entry * COST_SLOTS, (entry + 1) * COST_SLOTS);
    this.next[entry] = this.heads[call]!;
    this.heads[call] = entry;
    return entry;
  }

  addUnits(entry: number, more: UnitCounts | undefined): void {
    if (more !== undefined) this.units.set(entry, addUnits(this.units.get(entry), more)!);
  }

  subtractUnits(entry: number, superseded: UnitCounts): void {
    const left = lessUnits(this.units.get(entry), superseded);
    if (left === undefined) this.units.delete(entry);
    else this.units.set(entry, left);
  }

  /** Whether nothing was used for an entry, but a cost is stated. */
  onlyStatesCost(entry: number): boolean {
    const units = this.units.size === 0 ? undefined : this.units.get(entry);
    return units !== undefined && areZero(this.counts, entry) && pricedUnitsOf(units) === undefined;
  }

  /** Removes entries without contributions from a call's list, which must not be shared yet. */
  dropEmpty(call: number): void {
    let last = NONE;
    for (let entry = this.heads[call]!; entry !== NONE; entry = this.next[entry]!) {
      if (this.parts[entry]! > 0) last = entry;
      else if (last === NONE) this.heads[call] = this.next[entry]!;
      else this.next[last] = this.next[entry]!;
    }
  }

  release(): void {
    release(
      this.heads,
      this.llms,
      this.next,
      this.counts,
      this.costs,
      this.unpriced,
      this.parts,
      this.pricedContributions,
    );
  }
}
