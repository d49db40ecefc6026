import { release, resize } from "../../shared/buffers.ts";
import { AppError } from "../../shared/errors.ts";
import { NONE } from "../table/call-table.ts";
import { COST_SLOTS } from "../../prices/cost-fields.ts";
import { areZero, COUNT_SLOTS } from "../../usage/count-fields.ts";
import { addUnits, lessUnits, pricedUnitsOf, type UnitCounts } from "../../usage/units.ts";

/** Maximum entries: this, or `MAX_ENTRIES_PER_CALL` per call if that is more. */
const MAX_ENTRIES = 1_000_000;
const MAX_ENTRIES_PER_CALL = 4;

/**
 * Totals of calls: per call a linked list of entries, one per LLM, in flat arrays. A complete list never changes, so a call
 * without own usage shares its only child's list. Costs are in picodollars; NaN if unknown. `withParts`: entries count their
 * contributions, in total and per cost, so that contributions can be subtracted.
 */
export class Totals implements Disposable {
  readonly heads: Int32Array;
  readonly withCosts: boolean;
  readonly withParts: boolean;
  length = 0;
  llms = new Int32Array(0);
  next = new Int32Array(0);
  counts = new Float64Array(0);
  costs = new Float64Array(0);
  /** Number of contributions with an unknown cost. */
  unpriced = new Int32Array(0);
  parts = new Int32Array(0);
  pricedContributions = new Int32Array(0);
  /** Units besides tokens, which few entries have. */
  readonly units = new Map<number, UnitCounts>();

  private readonly maxLength: number;

  /** `expected`: number of entries. */
  constructor(calls: number, expected: number, kept: { costs: boolean; parts: boolean }) {
    this.heads = new Int32Array(calls).fill(NONE);
    this.maxLength = Math.max(MAX_ENTRIES, MAX_ENTRIES_PER_CALL * calls);
    this.withCosts = kept.costs;
    this.withParts = kept.parts;
    this.grow(Math.max(expected, 1));
  }

  /** Prepends a new entry, with zeros and unknown costs, to a call's list. Throws `too_many_calls`. */
  add(call: number, llm: number): number {
    if (this.length === this.maxLength) throw tooManyEntries(this.maxLength);
    if (this.length === this.llms.length) this.grow(Math.min(this.length * 2, this.maxLength));
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

  subtractUnits(entry: number, less: UnitCounts): void {
    const left = lessUnits(this.units.get(entry), less);
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

  private grow(size: number): void {
    this.llms = resize(this.llms, new Int32Array(size));
    this.next = resize(this.next, new Int32Array(size));
    this.counts = resize(this.counts, new Float64Array(size * COUNT_SLOTS));
    if (this.withParts) this.parts = resize(this.parts, new Int32Array(size));
    if (!this.withCosts) return;
    this.costs = resize(this.costs, new Float64Array(size * COST_SLOTS));
    this.unpriced = resize(this.unpriced, new Int32Array(size));
    if (this.withParts)
      this.pricedContributions = resize(this.pricedContributions, new Int32Array(size * COST_SLOTS));
  }

  [Symbol.dispose](): void {
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

function tooManyEntries(most: number): AppError {
  return new AppError(
    "too_many_calls",
    `The totals of these calls have more than ${most} entries (one per call and LLM of its descendants), which is too many. ` +
      "Select fewer calls (such as filter.trace_roots_only) or set own_only.",
  );
}
