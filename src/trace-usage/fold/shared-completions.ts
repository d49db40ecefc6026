import { isUniqueId, type UsageSource } from "../../calls/events/completion.ts";
import { viewOf } from "../../shared/buffers.ts";
import type { CallRows } from "../table/call-rows.ts";
import {
  asElsewhere,
  countsElsewhere,
  inclusiveOf,
  NONE,
  reporterOf,
  usageStartOf,
  withoutInclusive,
} from "../table/call-table.ts";
import { IdIndex } from "../table/id-index.ts";
import type { UsageEntries } from "../table/usage-entries.ts";
import { clusterReports, type Report } from "./cluster-reports.ts";

/**
 * Numbers the completions that several calls of a trace report: for each call the number of its completion, or NONE.
 * `undefined` if there are none, after one lookup per id. If one of its reports counts elsewhere, so does the completion. A call that reports a request with a completion id of its own has
 * called a model itself: it is marked as not inclusive, whatever its producer does.
 */
export function findSharedCompletions(
  source: Buffer,
  rows: CallRows,
  usage: UsageEntries,
): Int32Array | undefined {
  let completionOf: Int32Array | undefined;
  let completions = 0;
  for (const calls of callsWithSameId(source, rows, usage)) {
    for (const reports of completionsOf(calls, { source, rows, usage })) {
      if (reports.length < 2) continue;
      completionOf ??= new Int32Array(rows.count).fill(NONE);
      if (reports.some((call) => countsElsewhere(rows, call)))
        for (const call of reports)
          if (reporterOf(rows, call) !== "gateway") rows.flags[call] = asElsewhere(rows.flags[call]!);
      for (const call of reports) completionOf[call] = completions;
      completions++;
    }
  }
  return completionOf;
}

/** Groups calls of one trace with the same completion id. */
function callsWithSameId(source: Buffer, rows: CallRows, usage: UsageEntries): Iterable<number[]> {
  const { count, traceOf, usageEnd, completionIds } = rows;
  const reporting: number[] = [];
  for (let call = 0; call < count; call++)
    if (completionIds.ends[call]! > completionIds.starts[call]! && usageEnd[call]! > usageStartOf(rows, call))
      reporting.push(call);
  const firsts = new IdIndex(viewOf(source), { ids: completionIds, traceOf }, reporting.length);
  const shared = new Map<number, number[]>();
  for (const call of reporting) {
    const id = { start: completionIds.starts[call]!, end: completionIds.ends[call]! };
    const first = firsts.find(traceOf[call]!, id);
    if (first === NONE) firsts.add(call);
    else if (shared.has(first)) shared.get(first)!.push(call);
    else shared.set(first, [first, call]);
  }
  const isShared = new Set([...shared.values()].flat());
  for (const call of reporting) {
    if (inclusiveOf(rows, call) !== "in_total" || isShared.has(call)) continue;
    if (usage.requestsOf(usageStartOf(rows, call), usageEnd[call]!) > 0)
      rows.flags[call] = withoutInclusive(rows.flags[call]!);
  }
  return shared.values();
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
  const relayed = calls.filter((call) => isRelayed(reporterOf(rows, call))).length;
  if (relayed < 2 && isUniqueId(id)) return [calls];
  return clusterReports(calls.map((call) => reportOf(call, read)));
}

function isRelayed(source: UsageSource): boolean {
  return source === "gateway" || source === "estimate";
}

function reportOf(call: number, { source, rows, usage }: Read): Report {
  const { ids, startedAtUs, endedAtUs, usageEnd } = rows;
  return {
    call,
    id: source.toString("utf8", ids.starts[call], ids.ends[call]),
    startedAtUs: startedAtUs[call]!,
    endedAtUs: endedAtUs[call]!,
    ...usage.tokensOf(usageStartOf(rows, call), usageEnd[call]!),
  };
}
