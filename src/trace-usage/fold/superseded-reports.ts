import type { UsageSource } from "../../calls/events/completion.ts";
import { AppError } from "../../shared/errors.ts";
import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { inclusiveOf, NONE, reporterOf, usageStartOf, type CallTable } from "../table/call-table.ts";
import { nodesOf, type Forest, type Nodes } from "./forest.ts";

/**
 * Reports of shared completions that do not count everywhere. Of the reports of one completion, the most exact one below a
 * call is the winner there; another report is superseded at the lowest call above it that has a winner, and stops counting.
 */
export interface SupersededReports {
  /** Number of the completion that each call reports with others, or NONE. */
  readonly completionOf: Int32Array;
  /** Lists of the reports superseded at each call, then at each cycle. */
  readonly first: Int32Array;
  readonly next: Int32Array;
  /** 1 for a report that the trace counts by another one, in its own tree or another. */
  readonly countedElsewhere: Uint8Array;
}

/** Finds superseded reports. Cost: O(calls + distance of reports), iterative. Throws `too_many_calls` if they are too far apart. */
export function findSuperseded(calls: CallTable, forest: Forest, shared: Int32Array): SupersededReports {
  const nodes = nodesOf(forest);
  const { isAboveOwn, ...found } = compareReports(calls, nodes, shared);
  const completionOf = withoutWrappers(calls, forest, { shared, isAboveOwn });
  return completionOf === undefined ? found : compareReports(calls, nodes, completionOf);
}

/** Steps between the reports of completions. Reports are mostly next to each other; only a made-up trace needs more. */
const MAX_STEPS = 50_000_000;

/** Compares the reports of each completion, the best first: each walks up to the calls above better ones. */
function compareReports(calls: CallTable, nodes: Nodes, completionOf: Int32Array) {
  const found = {
    completionOf,
    first: new Int32Array(nodes.depths.length).fill(NONE),
    next: new Int32Array(calls.count),
    countedElsewhere: new Uint8Array(calls.count),
    /** 1 for a report above another one of its completion. */
    isAboveOwn: new Uint8Array(calls.count),
  };
  const { parentOf, depths, roots } = nodes;
  const compare = byExactness(calls, depths);
  /** Last completion with a report at or below each node. */
  const reached = new Int32Array(depths.length).fill(NONE);
  let steps = 0;
  for (const [completion, reports] of reportsByCompletion(completionOf)) {
    /** Highest call reached in each tree. */
    const tops = new Map<number, number>();
    for (const report of reports.sort(compare)) {
      const root = roots[report]!;
      found.countedElsewhere[report] = Number(tops.size > 0);
      let [at, top] = [report, tops.get(root)];
      if (top === undefined) {
        reached[report] = completion;
        tops.set(root, report);
        continue;
      }
      for (; reached[at] !== completion; steps++) {
        if (depths[top]! >= depths[at]!) {
          top = parentOf(top);
          reached[top] = completion;
        } else {
          reached[at] = completion;
          at = parentOf(at);
        }
      }
      tops.set(root, top);
      if (steps > MAX_STEPS) throw tooFarApart();
      if (completionOf[at] === completion) found.isAboveOwn[at] = 1;
      found.next[report] = found.first[at]!;
      found.first[at] = report;
    }
  }
  return found;
}

function tooFarApart(): AppError {
  return new AppError(
    "too_many_calls",
    "Calls that report one completion are too far apart in their trace. Select fewer calls.",
  );
}

function reportsByCompletion(completionOf: Int32Array): ReadonlyMap<number, number[]> {
  const reports = new Map<number, number[]>();
  for (let call = 0; call < completionOf.length; call++) {
    const completion = completionOf[call]!;
    if (completion === NONE) continue;
    const known = reports.get(completion);
    if (known === undefined) reports.set(completion, [call]);
    else known.push(call);
  }
  return reports;
}

const MIXED = -2;

/**
 * Removes wrappers: an inclusive call above reports of its own completion and of others carries the id of its last
 * completion. Above reports of its own completion only, it is a report; above none of its own, it called a model itself if it
 * reports a request. `undefined` if there are none.
 */
function withoutWrappers(
  calls: CallTable,
  { order, parents }: Forest,
  { shared, isAboveOwn }: { readonly shared: Int32Array; readonly isAboveOwn: Uint8Array },
): Int32Array | undefined {
  let completionOf: Int32Array | undefined;
  const below = new Int32Array(calls.count).fill(NONE);
  for (let at = order.length - 1; at >= 0; at--) {
    const call = order[at]!;
    let all = below[call]!;
    if (usageStartOf(calls, call) < calls.usageEnd[call]!) {
      const own = shared[call]!;
      const mayWrap = own !== NONE && all !== NONE && all !== own && inclusiveOf(calls, call) !== false;
      const wraps = mayWrap && (isAboveOwn[call] === 1 || !hasRequests(calls, call));
      if (wraps) (completionOf ??= shared.slice())[call] = NONE;
      all = mergeCompletions(all, own === NONE || wraps ? MIXED : own);
    }
    const parent = parents[call]!;
    if (parent !== NONE) below[parent] = mergeCompletions(below[parent]!, all);
  }
  return completionOf;
}

function hasRequests(calls: CallTable, call: number): boolean {
  return calls.usage.requestsOf(usageStartOf(calls, call), calls.usageEnd[call]!) > 0;
}

function mergeCompletions(one: number, other: number): number {
  if (one === NONE || other === NONE || one === other) return one === NONE ? other : one;
  return MIXED;
}

/** Rank of sources; higher is more exact. */
const EXACTNESS: Readonly<Record<UsageSource, number>> = {
  elsewhere: -1,
  estimate: 0,
  client: 1,
  gateway: 2,
};

/**
 * Creates the order of reports, the best first: those with counts before one that only states a cost; by source (gateway,
 * client, estimate), then the deepest, the one with more counts, the earliest, and the smaller id. Independent of selection
 * and read order.
 */
function byExactness(calls: CallTable, depths: Int32Array): (one: number, other: number) => number {
  return (one, other) => {
    const [counts, others] = [countsReported(calls, one), countsReported(calls, other)];
    return (
      Math.sign(others) - Math.sign(counts) ||
      EXACTNESS[reporterOf(calls, other)] - EXACTNESS[reporterOf(calls, one)] ||
      depths[other]! - depths[one]! ||
      others - counts ||
      calls.startedAtUs[one]! - calls.startedAtUs[other]! ||
      compareIds(calls, one, other)
    );
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
  return source.compare(source, ids.starts[other], ids.ends[other], ids.starts[one], ids.ends[one]);
}
