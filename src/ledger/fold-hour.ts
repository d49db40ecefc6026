import type { Engine } from "../store/engine.ts";
import { ownUsage } from "../rollup/fold/own-usage.ts";
import { usageOf } from "../rollup/fold/usage-of.ts";
import { isSelected, releaseCalls, usageStartOf, type CallTable } from "../rollup/table/call-table.ts";
import { LlmNames } from "../rollup/table/llm-names.ts";
import { readCallTable } from "../rollup/table/read-call-table.ts";
import { release } from "../shared/buffers.ts";
import { COUNT_SLOTS } from "../usage/count-fields.ts";
import { isMore, NOTHING_YET } from "../usage/most-used.ts";
import { isNothing } from "../usage/usage.ts";
import {
  NO_LATENCY,
  NO_USAGE,
  usageOfEntry,
  type CallField,
  type CallOfEntry,
  type Entry,
  type UsageOfEntry,
} from "./entries.ts";
import { readSpanningTraces, type Hour } from "./hour.ts";
import { callBytes, HourColumns, pieceOfHour, type CallsToRead } from "./read-hour.ts";

/** Calls that are read and folded at once. */
const CALLS_PER_PIECE = 10_000;

export interface FoldedHour {
  /** Of the very rows that were folded. */
  readonly fingerprint: string;
  /** The digest of the spanning traces that were left out. */
  readonly spanning: string;
  /** The entries of each piece. */
  readonly pieces: readonly (readonly Entry[])[];
}

/**
 * What the calls of an hour themselves used, but those of spanning traces. The fingerprint comes with the rows of each piece:
 * it is the hour's only if no part came in between two of them, so that what was folded and the fingerprint always belong
 * together. Undefined: an entry cannot be stored exactly. `rows`: how many the hour has in `calls`.
 */
export async function foldHour(
  engine: Engine,
  hour: Hour & { readonly rows: number },
  signal: AbortSignal,
): Promise<FoldedHour | undefined> {
  const { traceIds, digest } = await readSpanningTraces(engine, hour, signal);
  const count = Math.max(1, Math.ceil(hour.rows / CALLS_PER_PIECE));
  const pieces: (readonly Entry[])[] = [];
  let fingerprint = 0n;
  for (let piece = 0; piece < count; piece++) {
    const within = pieceOfHour(hour.hour, piece, count);
    const folded = await foldCalls(engine, { project: hour.project, within, except: traceIds }, signal);
    if (folded === undefined) return undefined;
    fingerprint = BigInt.asUintN(64, fingerprint + folded.fingerprint);
    pieces.push(folded.entries);
  }
  return { fingerprint: String(fingerprint), spanning: digest, pieces };
}

export interface FoldedCalls {
  /** The sum over the very rows that were folded. */
  readonly fingerprint: bigint;
  readonly entries: readonly Entry[];
  /** Of each entry the hour that its call lies under. */
  readonly hours: readonly number[];
}

/** What the calls of some whole traces themselves used. Undefined: an entry cannot be stored exactly. */
export async function foldCalls(
  engine: Engine,
  toRead: CallsToRead,
  signal: AbortSignal,
): Promise<FoldedCalls | undefined> {
  const bytes = await callBytes(engine, toRead, signal);
  const names = new LlmNames();
  const columns = new HourColumns(bytes);
  const calls = readCallTable(bytes, undefined, names, { readMore: columns.readBlock, parents: "for_own" });
  const entries = entriesOf(calls, columns, names);
  releaseCalls(calls);
  return entries === undefined ? undefined : { fingerprint: columns.fingerprint, ...entries };
}

function entriesOf(
  calls: CallTable,
  columns: HourColumns,
  names: LlmNames,
): Pick<FoldedCalls, "entries" | "hours"> | undefined {
  const own = ownUsage(calls, names);
  const entries: Entry[] = [];
  const hours: number[] = [];
  for (let call = 0; call < calls.count; call++) {
    if (!isSelected(calls, call)) continue;
    const at = calls.startedAtUs[call]!;
    const used: UsageOfEntry[] = [];
    for (let entry = usageStartOf(calls, call); entry < calls.usageEnd[call]!; entry++) {
      const usage = usageOf(
        entry,
        { counts: own.counts, at: entry * COUNT_SLOTS, units: own.units.get(entry) },
        { calls, names },
      );
      if (isNothing(usage)) continue;
      const stored = usageOfEntry(usage);
      if (stored === undefined) return undefined;
      used.push(stored);
    }
    const most = placeOfMost(used);
    const fields = fieldsOf(columns, call);
    const counted: CallOfEntry = {
      calls: 1,
      errors: columns.errors[call]!,
      latency: columns.latencies[call]!,
      ...fields,
    };
    const elsewhere: CallOfEntry = { calls: 0, errors: 0, latency: NO_LATENCY, ...fields };
    if (used.length === 0) entries.push({ at, ...counted, ...NO_USAGE });
    for (const [place, usage] of used.entries())
      entries.push({ at, ...(place === most ? counted : elsewhere), ...usage });
    while (hours.length < entries.length) hours.push(columns.hours[call]!);
  }
  if (own.counts !== calls.usage.counts) release(own.counts);
  return { entries, hours };
}

function placeOfMost(used: readonly UsageOfEntry[]): number {
  let [place, most] = [0, NOTHING_YET];
  for (const [at, { total_tokens: tokens }] of used.entries())
    if (isMore(tokens, most)) [place, most] = [at, tokens];
  return place;
}

/** Written out because it is done for every call. */
function fieldsOf({ fields, roots }: HourColumns, call: number): Pick<CallOfEntry, CallField | "is_root"> {
  return {
    op_name: fields.op_name[call]!,
    trace_id: fields.trace_id[call]!,
    thread_id: fields.thread_id[call]!,
    turn_id: fields.turn_id[call]!,
    svc_user_id: fields.svc_user_id[call]!,
    svc_run_id: fields.svc_run_id[call]!,
    api_key: fields.api_key[call]!,
    status: fields.status[call]!,
    is_root: roots[call]!,
  };
}
