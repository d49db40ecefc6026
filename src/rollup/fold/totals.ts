import { release, resize } from "../../shared/buffers.ts";
import { NONE } from "../table/call-table.ts";
import { COST_SLOTS } from "../../prices/cost-fields.ts";
import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { addUnits, lessUnits, type UnitCounts } from "../../usage/units.ts";

/**
 * Per call, a list of entries, one per LLM. All entries are in a few flat arrays. A complete list never changes, so a
 * call without usage of its own shares its only child's list. Costs are in picodollars; NaN if unknown. If parts may have
 * to be subtracted again, an entry counts its parts, and those of each cost.
 */
export class Totals {
  readonly heads: Int32Array;
  readonly withCosts: boolean;
  readonly withParts: boolean;
  length = 0;
  llms: Int32Array;
  next: Int32Array;
  counts: Float64Array;
  costs: Float64Array;
  /** How many parts have a cost that is not known. */
  unpriced: Int32Array;
  parts: Int32Array;
  pricedParts: Int32Array;
  /** Units besides the counts, which few entries have. */
  readonly units = new Map<number, UnitCounts>();

  constructor(calls: number, kept: { costs: boolean; parts: boolean; fewEntries: boolean }) {
    this.heads = new Int32Array(calls).fill(NONE);
    this.withCosts = kept.costs;
    this.withParts = kept.parts;
    const size = kept.fewEntries ? 64 : Math.max(64, calls + (calls >> 1));
    this.llms = new Int32Array(size);
    this.next = new Int32Array(size);
    this.counts = new Float64Array(size * COUNT_SLOTS);
    this.costs = new Float64Array(kept.costs ? size * COST_SLOTS : 0).fill(Number.NaN);
    this.unpriced = new Int32Array(kept.costs ? size : 0);
    this.parts = new Int32Array(kept.parts ? size : 0);
    this.pricedParts = new Int32Array(kept.parts && kept.costs ? size * COST_SLOTS : 0);
  }

  /** Prepends a new entry, with zeros and unknown costs, to a call's list. */
  add(call: number, llm: number): number {
    if (this.length === this.llms.length) this.grow();
    const entry = this.length++;
    this.llms[entry] = llm;
    this.next[entry] = this.heads[call]!;
    this.heads[call] = entry;
    return entry;
  }

  addUnits(entry: number, more: UnitCounts | undefined): void {
    if (more !== undefined) this.units.set(entry, addUnits(this.units.get(entry), more)!);
  }

  takeOffUnits(entry: number, lost: UnitCounts): void {
    const left = lessUnits(this.units.get(entry), lost);
    if (left === undefined) this.units.delete(entry);
    else this.units.set(entry, left);
  }

  /** Removes the entries without parts from a call's list, which no other call may share yet. */
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
      this.pricedParts,
    );
  }

  private grow(): void {
    const size = this.llms.length * 2;
    this.llms = resize(this.llms, new Int32Array(size));
    this.next = resize(this.next, new Int32Array(size));
    this.counts = resize(this.counts, new Float64Array(size * COUNT_SLOTS));
    if (this.withCosts) {
      this.costs = resize(this.costs, new Float64Array(size * COST_SLOTS).fill(Number.NaN));
      this.unpriced = resize(this.unpriced, new Int32Array(size));
    }
    if (this.withParts) this.parts = resize(this.parts, new Int32Array(size));
    if (this.withParts && this.withCosts)
      this.pricedParts = resize(this.pricedParts, new Int32Array(size * COST_SLOTS));
  }
}
