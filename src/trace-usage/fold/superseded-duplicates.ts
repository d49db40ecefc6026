import type { UsageSource } from "../../calls/events/completion.ts";
import { release } from "../../shared/buffers.ts";
import { inclusiveOf, NONE, reporterOf, usageStartOf, type CallTable } from "../table/call-table.ts";
import type { Forest } from "./forest.ts";
import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { lowestCommonAncestors, type LowestCommonAncestors } from "./lowest-common-ancestors.ts";

/**
 * Which reports stop counting, and where. Two reports of one completion meet at the lowest call above both. There the
 * less exact one is lost: totals from there up contain the other one.
 */
export interface SupersededDuplicates {
  /** For each call, the number of the completion that it and others report; NONE if it reports none with others. */
  readonly completionOf: Int32Array;
  /** Lists of the reports lost at each call, followed by those lost at each cycle. */
  readonly first: Int32Array;
  readonly next: Int32Array;
  readonly superseded: Int32Array;
  /** 1 for a report replaced by a better one of the same trace, in its own tree or another. */
  readonly countedElsewhere: Uint8Array;
}

/** Cost: O(calls + reports × log depth), iterative. */
export function findSuperseded(calls: CallTable, forest: Forest, shared: Int32Array): SupersededDuplicates {
  const { completionOf, common } = withoutWrappers(calls, forest, shared);
  const losses = {
    completionOf,
    first: new Int32Array(calls.count + forest.cycles.length).fill(NONE),
    next: new Int32Array(common.reports.length),
    superseded: new Int32Array(common.reports.length),
    countedElsewhere: new Uint8Array(calls.count),
  };
  let count = 0;
  const lose = (call: number, at: number): void => {
    losses.countedElsewhere[call] = 1;
    losses.superseded[count] = call;
    losses.next[count] = losses.first[at]!;
    losses.first[at] = count++;
  };
  const isBetter = comparing(calls, common);
  const rounds = new Tournament(common, isBetter, lose);
  for (let from = 0; from < common.reports.length;) {
    let to = from + 1;
    while (to < common.reports.length && sameCompletion(completionOf, common, from, to)) to++;
    rounds.play(from, to);
    playAcrossTrees(common.reports.subarray(from, to), losses.countedElsewhere, isBetter);
    from = to;
  }
  rounds.release();
  releaseCommon(common);
  return losses;
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

/** The best reports of one completion in different trees never meet; for the trace, only one of them counts. */
function playAcrossTrees(
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
 * An inclusive call above a report of its own completion and of others is a wrapper that carries the id of its last
 * completion. Above reports of its own completion alone it is one more report of it; where none is below it, it asked itself,
 * if it reports a request.
 */
function withoutWrappers(
  calls: CallTable,
  forest: Forest,
  shared: Int32Array,
): { readonly completionOf: Int32Array; readonly common: LowestCommonAncestors } {
  const common = lowestCommonAncestors(forest, shared);
  const isAboveOwn = new Uint8Array(calls.count);
  // neighbours in the order of the trees meet at the first of them if the second is below it
  for (const [place, report] of common.reports.entries()) {
    const next = common.reports[place + 1];
    if (next !== undefined && shared[next] === shared[report] && common.at[place + 1] === report)
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
      all = together(all, own === NONE || wraps ? MIXED : own);
    }
    const parent = forest.parents[call]!;
    if (parent !== NONE) below[parent] = together(below[parent]!, all);
  }
  release(below, isAboveOwn);
  if (wrappers === 0) return { completionOf, common };
  releaseCommon(common);
  return { completionOf, common: lowestCommonAncestors(forest, completionOf) };
}

function hasRequests(calls: CallTable, call: number): boolean {
  return calls.usage.requestsOf(usageStartOf(calls, call), calls.usageEnd[call]!) > 0;
}

function together(one: number, other: number): number {
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
 * The reports of one completion, in the order of the trees. Neighbours that meet lower meet first; the better of two that
 * meet continues.
 */
class Tournament {
  private readonly common: LowestCommonAncestors;
  private readonly isBetter: (one: number, other: number) => boolean;
  private readonly lose: (call: number, at: number) => void;
  /** Reports that continue. Each except the first has, beside it, the place where it meets the one before it. */
  private readonly open: Int32Array;
  private readonly joins: Int32Array;
  private size = 0;

  constructor(
    common: LowestCommonAncestors,
    isBetter: (one: number, other: number) => boolean,
    lose: (call: number, at: number) => void,
  ) {
    this.common = common;
    this.isBetter = isBetter;
    this.lose = lose;
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
      this.lose(better === last ? before : last, at[joins[this.size - 1]!]!);
      open[this.size - 2] = better;
    }
  }
}

/** From the least exact on. */
const EXACTNESS: Readonly<Record<UsageSource, number>> = { estimate: 0, client: 1, gateway: 2 };

/**
 * The gateway's count ranks before a client's, and that before an estimate; then the deepest, the one with more counts,
 * the earliest, and the one with the smaller id. The result does not depend on the selection or the order.
 */
function comparing(
  calls: CallTable,
  { depthOf }: LowestCommonAncestors,
): (one: number, other: number) => boolean {
  return (one, other) => {
    const difference =
      EXACTNESS[reporterOf(calls, one)] - EXACTNESS[reporterOf(calls, other)] ||
      depthOf[one]! - depthOf[other]! ||
      countsReported(calls, one) - countsReported(calls, other) ||
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
