import { isUniqueId, USAGE_SOURCES, type UsageSource } from "../../calls/events/completion.ts";
import { release, viewOf } from "../../shared/buffers.ts";
import type { CallRows } from "../table/call-rows.ts";
import { withoutInclusive, inclusiveOf, NONE, reporterOf } from "../table/call-table.ts";
import { HashTable } from "../table/hash-table.ts";
import { areSameBytes, hashOf, type ByteRange, randomSeed } from "../table/id-bytes.ts";
import type { UsageEntries } from "../table/usage-entries.ts";
import { clusterDuplicates, type DuplicateRecord } from "./duplicate-clusters.ts";

const SEED = randomSeed();

/**
 * Numbers the completions that several calls of a trace report: for each call the number of its completion, or NONE.
 * `undefined` if there are none, after one lookup per id. A call that reports a request with a completion id of its own has
 * called a model itself: it is marked as not inclusive, whatever its producer does.
 */
export function findDuplicateCompletions(
  source: Buffer,
  rows: CallRows,
  usage: UsageEntries,
): Int32Array | undefined {
  const sameId = linkSameIds(source, rows, usage);
  if (sameId === undefined) return undefined;
  const completionOf = new Int32Array(rows.count).fill(NONE);
  let completions = 0;
  for (const calls of sameId) {
    for (const cluster of completionsOf(calls, { source, rows, usage })) {
      if (cluster.length < 2) continue;
      for (const call of cluster) completionOf[call] = completions;
      completions++;
    }
  }
  if (completions > 0) return completionOf;
  release(completionOf);
  return undefined;
}

/** Groups calls of one trace with the same completion id; `undefined` if there are none. */
function linkSameIds(source: Buffer, rows: CallRows, usage: UsageEntries): Iterable<number[]> | undefined {
  const { count, traceOf, usageEnd, completionIds: ids } = rows;
  const reports = (call: number): boolean =>
    ids.ends[call]! > ids.starts[call]! && usageEnd[call]! > (call === 0 ? 0 : usageEnd[call - 1]!);
  let reporting = 0;
  for (let call = 0; call < count; call++) if (reports(call)) reporting++;
  if (reporting === 0) return undefined;

  const view = viewOf(source);
  const rangeOf = (call: number): ByteRange => ({ start: ids.starts[call]!, end: ids.ends[call]! });
  const firsts = new HashTable(reporting);
  const shared = new Map<number, number[]>();
  for (let call = 0; call < count; call++) {
    if (!reports(call)) continue;
    const range = rangeOf(call);
    const hash = hashOf(view, range, SEED ^ traceOf[call]!);
    const first = firsts.find(
      hash,
      (other) => traceOf[other] === traceOf[call] && areSameBytes(view, range, rangeOf(other)),
    );
    if (first === NONE) firsts.add(hash, call);
    else if (shared.has(first)) shared.get(first)!.push(call);
    else shared.set(first, [first, call]);
  }
  firsts.release();
  const isShared = new Set([...shared.values()].flat());
  for (let call = 0; call < count; call++) {
    if (!reports(call) || inclusiveOf(rows, call) !== "in_total" || isShared.has(call)) continue;
    const hasRequests = usage.requestsOf(call === 0 ? 0 : usageEnd[call - 1]!, usageEnd[call]!) > 0;
    if (hasRequests) rows.flags[call] = withoutInclusive(rows.flags[call]!);
  }
  return shared.size === 0 ? undefined : shared.values();
}

interface Read {
  readonly source: Buffer;
  readonly rows: CallRows;
  readonly usage: UsageEntries;
}

/**
 * Splits calls with one id into completions: one if the id is unique. The gateway relays a completion once, so if it reports
 * an id twice, the server reuses it.
 */
function completionsOf(calls: readonly number[], read: Read): readonly (readonly number[])[] {
  const { source, rows } = read;
  const [first] = calls;
  const id = source.toString("utf8", rows.completionIds.starts[first!], rows.completionIds.ends[first!]);
  const relayed = calls.filter((call) => byGateway(reporterOf(rows, call))).length;
  if (relayed < 2 && isUniqueId(id)) return [calls];
  return clusterDuplicates(calls.map((call) => recordOf(call, read)));
}

function byGateway(reporter: UsageSource): boolean {
  return reporter !== USAGE_SOURCES[0];
}

function recordOf(call: number, { source, rows, usage }: Read): DuplicateRecord {
  const { ids, startedAtUs, endedAtUs, usageEnd } = rows;
  return {
    call,
    id: source.toString("utf8", ids.starts[call], ids.ends[call]),
    startedAtUs: startedAtUs[call]!,
    endedAtUs: endedAtUs[call]!,
    ...usage.tokensOf(call === 0 ? 0 : usageEnd[call - 1]!, usageEnd[call]!),
  };
}
