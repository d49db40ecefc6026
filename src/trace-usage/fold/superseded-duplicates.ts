import type { UsageSource } from "../../calls/events/completion.ts";
import { release } from "../../shared/buffers.ts";
import { inclusiveOf, NONE, reporterOf, usageStartOf, type CallTable } from "../table/call-table.ts";
import type { Forest } from "./forest.ts";
import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { lowestCommonAncestors, type LowestCommonAncestors } from "./lowest-common-ancestors.ts";

/**
 * Superseded reports and the calls at which they stop counting. Of two reports of one completion, the less exact one is
 * superseded at their lowest common ancestor: totals from there up contain the other one.
 */
export interface SupersededDuplicates {
  /** Number of each call's duplicate completion, or NONE. */
  readonly completionOf: Int32Array;
  /** Lists of the reports superseded at each call, then at each cycle. */
  readonly first: Int32Array;
  readonly next: Int32Array;
  readonly superseded: Int32Array;
  /** 1 for a report superseded within its trace, in its own tree or another. */
  readonly countedElsewhere: Uint8Array;
}

/** Finds superseded reports. Cost: O(calls + reports × log depth), iterative. */
export function findSuperseded(calls: CallTable, forest: Forest, shared: Int32Array): SupersededDuplicates {
  const { completionOf, common } = withoutWrappers(calls, forest, shared);
  const found = {
    completionOf,
    first: new Int32Array(calls.count + forest.cycles.length).fill(NONE),
    next: new Int32Array(common.reports.length),
    superseded: new Int32Array(common.reports.length),
    countedElsewhere: new Uint8Array(calls.count),
  };
  let count = 0;
  const supersede = (call: number, at: number): void => {
    found.countedElsewhere[call] = 1;
    found.superseded[count] = call;
    found.next[count] = found.first[at]!;
    found.first[at] = count++;
  };
  const isBetter = comparing(calls, common);
  const tournament = new Tournament(common, isBetter, supersede);
  for (let from = 0; from < common.reports.length;) {
    let to = from + 1;
    while (to < common.reports.length && sameCompletion(completionOf, common, from, to)) to++;
    tournament.play(from, to);
    supersedeAcrossTrees(common.reports.subarray(from, to), found.countedElsewhere, isBetter);
    from = to;
  }
  tournament.release();
  releaseCommon(common);
  return found;
}

function releaseCommon({ reports, at, depths, depthOf }: LowestCommonAncestors): void {
  release(reports, at, depths, depthOf);
}

export function releaseSuperseded({
  completionOf,
  first,
  next,
  superseded,
  countedElsewhere,
}: SupersededDuplicates): void {
  release(completionOf, first, next, superseded, countedElsewhere);
}

/** Supersedes all but one report of a completion among trees, which have no common ancestor; for the trace only one counts. */
function supersedeAcrossTrees(
  reports: Int32Array,
  countedElsewhere: Uint8Array,
  isBetter: (one: number, other: number) => boolean,
): void {
  let best = NONE;
  for (const report of reports) {
    if (countedElsewhere[report] === 1) continue;
    if (best !== NONE) countedElsewhere[isBetter(report, best) ? best : report] = 1;
    if (best === NONE || countedElsewhere[best] === 1) best = report;
  }
}

const MIXED = -2;

/**
 * Removes wrappers: an inclusive call above reports of its own completion and of others carries the id of its last
 * completion. Above reports of its own completion only, it is a duplicate; above none of its own, it called a model itself if
 * it reports a request.
 */
function withoutWrappers(
  calls: CallTable,
  forest: Forest,
  shared: Int32Array,
): { readonly completionOf: Int32Array; readonly common: LowestCommonAncestors } {
  const common = lowestCommonAncestors(forest, shared);
  const isAboveOwn = new Uint8Array(calls.count);
  // the common ancestor of neighbours in tree order is the first one if the second is its descendant
  for (const [index, report] of common.reports.entries()) {
    const next = common.reports[index + 1];
    if (next !== undefined && shared[next] === shared[report] && common.at[index + 1] === report)
      isAboveOwn[report] = 1;
  }
  const completionOf = shared.slice();
  let wrappers = 0;
  const below = new Int32Array(calls.count).fill(NONE);
  for (let at = forest.order.length - 1; at >= 0; at--) {
    const call = forest.order[at]!;
    let all = below[call]!;
    if (usageStartOf(calls, call) < calls.usageEnd[call]!) {
      const own = completionOf[call]!;
      const mayWrap = own !== NONE && all !== NONE && all !== own && inclusiveOf(calls, call) !== false;
      const wraps = mayWrap && (isAboveOwn[call] === 1 || !hasRequests(calls, call));
      if (wraps) completionOf[call] = NONE;
      if (wraps) wrappers++;
      all = mergeCompletions(all, own === NONE || wraps ? MIXED : own);
    }
    const parent = forest.parents[call]!;
    if (parent !== NONE) below[parent] = mergeCompletions(below[parent]!, all);
  }
  release(below, isAboveOwn);
  if (wrappers === 0) return { completionOf, common };
  releaseCommon(common);
  return { completionOf, common: lowestCommonAncestors(forest, completionOf) };
}

function hasRequests(calls: CallTable, call: number): boolean {
  return calls.usage.requestsOf(usageStartOf(calls, call), calls.usageEnd[call]!) > 0;
}

function mergeCompletions(one: number, other: number): number {
  if (one === NONE || other === NONE || one === other) return one === NONE ? other : one;
  return MIXED;
}

function sameCompletion(
  completionOf: Int32Array,
  { reports }: LowestCommonAncestors,
  one: number,
  other: number,
): boolean {
  return completionOf[reports[one]!] === completionOf[reports[other]!];
}

/**
 * Tournament of the reports of one completion, in tree order. Neighbours with deeper common ancestors are compared first; the
 * better one continues.
 */
class Tournament {
  private readonly common: LowestCommonAncestors;
  private readonly isBetter: (one: number, other: number) => boolean;
  private readonly supersede: (call: number, at: number) => void;
  /** Reports that continue. `joins`: index of the common ancestor of each with the previous one. */
  private readonly open: Int32Array;
  private readonly joins: Int32Array;
  private size = 0;

  constructor(
    common: LowestCommonAncestors,
    isBetter: (one: number, other: number) => boolean,
    supersede: (call: number, at: number) => void,
  ) {
    this.common = common;
    this.isBetter = isBetter;
    this.supersede = supersede;
    this.open = new Int32Array(common.reports.length);
    this.joins = new Int32Array(common.reports.length);
  }

  play(from: number, to: number): void {
    const { reports, at, depths } = this.common;
    this.size = 0;
    for (let place = from; place < to; place++) {
      if (place > from) this.joinDeeperThan(depths[place]!);
      if (at[place] === NONE) this.size = 0;
      this.joins[this.size] = place;
      this.open[this.size++] = reports[place]!;
    }
    this.joinDeeperThan(NONE);
  }

  release(): void {
    release(this.open, this.joins);
  }

  private joinDeeperThan(depth: number): void {
    const { at, depths } = this.common;
    const { open, joins } = this;
    for (; this.size > 1 && depths[joins[this.size - 1]!]! > depth; this.size--) {
      const last = open[this.size - 1]!;
      const before = open[this.size - 2]!;
      const better = this.isBetter(last, before) ? last : before;
      this.supersede(better === last ? before : last, at[joins[this.size - 1]!]!);
      open[this.size - 2] = better;
    }
  }
}

/** Rank of sources; higher is more exact. */
const EXACTNESS: Readonly<Record<UsageSource, number>> = { estimate: 0, client: 1, gateway: 2 };

/**
 * Creates the order of reports: one with counts before one that only states a cost; by source (gateway, client, estimate),
 * then the deepest, the one with more counts, the earliest, and the smaller id. Independent of selection and read order.
 */
function comparing(
  calls: CallTable,
  { depthOf }: LowestCommonAncestors,
): (one: number, other: number) => boolean {
  return (one, other) => {
    const [counts, others] = [countsReported(calls, one), countsReported(calls, other)];
    const difference =
      Math.sign(counts) - Math.sign(others) ||
      EXACTNESS[reporterOf(calls, one)] - EXACTNESS[reporterOf(calls, other)] ||
      depthOf[one]! - depthOf[other]! ||
      counts - others ||
      calls.startedAtUs[other]! - calls.startedAtUs[one]! ||
      compareIds(calls, other, one);
    return difference > 0;
  };
}

function countsReported(calls: CallTable, call: number): number {
  let reported = 0;
  const end = calls.usageEnd[call]! * COUNT_SLOTS;
  for (let place = usageStartOf(calls, call) * COUNT_SLOTS; place < end; place++) {
    if (calls.usage.counts[place]! > 0) reported++;
  }
  return reported;
}

function compareIds({ source, ids }: CallTable, one: number, other: number): number {
  const bytes = (call: number): Buffer => source.subarray(ids.starts[call], ids.ends[call]);
  return Buffer.compare(bytes(one), bytes(other));
}
