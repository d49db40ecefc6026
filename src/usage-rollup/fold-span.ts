import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { Fingerprints } from "./fingerprints.ts";
import { foldRecords, type FoldedRecords } from "./fold-records.ts";
import type { UsageRecord } from "./usage-record.ts";
import { hoursIn, singleHour, type HourSpan } from "./hour-span.ts";
import { hourIn } from "./hour.ts";
import type { MaterializedSlice } from "./rows.ts";

/** Traces to fold together: of some groups of several hours, or an hour's own. */
export interface FoldRequest {
  readonly project: Project;
  readonly groups: readonly SpanToFold[];
  /** A condition: the calls of these traces, under the hours of the groups. */
  readonly members: Sql;
}

export interface SpanToFold extends HourSpan {
  /** The hours under which its traces have calls, with their traceSetHashes (`Head.traceSetHash`). */
  readonly under: readonly { readonly hour: number; readonly traceSetHash: string }[];
  /** Of an hour's own, none are named. */
  readonly traceIds: readonly string[];
}

/** One of so many parts of the traces. */
export interface TraceSlice {
  readonly slice: number;
  readonly slices: number;
}

export type Folded =
  | { readonly failed?: undefined; readonly materialized: readonly MaterializedSlice[] }
  /** They changed meanwhile; or they have too many rows of `calls` to be folded at once; or an entry cannot be stored exactly. */
  | { readonly failed: "changed" | "too many" | "inexact"; readonly rows: number };

/**
 * What the calls of some traces themselves used. One statement has the fingerprints of the hours and, of the same rows, that
 * of the traces; another one reads the traces. If both have the same fingerprint of the traces, the calls are those of the
 * hours' fingerprints, whichever replicas were read, and when.
 */
export async function foldSpans(
  { engine, signal }: { readonly engine: Engine; readonly signal: AbortSignal },
  { project, groups, members }: FoldRequest,
  { slice, slices, maxRows }: TraceSlice & { readonly maxRows: number },
): Promise<Folded> {
  const hours = hourIn([...new Set(groups.flatMap(hoursIn))]);
  const ofSlice = slices === 1 ? members : sql`${members} AND ${isOfSlice({ slice, slices })}`;
  const states = await readStates(engine, project, { hours, members: ofSlice }, signal);
  const rows = states.reduce((sum, state) => sum + state.rows, 0);
  if (rows > maxRows) return { rows, failed: "too many" };
  const calls = await foldRecords(engine, { project, within: sql`${hours} AND ${ofSlice}` }, signal);
  if (calls === undefined) return { rows, failed: "inexact" };
  const expected = states.reduce((sum, state) => sum + BigInt(state.ofMembers), 0n);
  if (calls.fingerprint !== BigInt.asUintN(64, expected)) return { rows, failed: "changed" };
  const fingerprints = new Fingerprints(new Map(states.map(({ hour, whole }) => [hour, BigInt(whole)])));
  const records = byGroupAndHour(groups, calls);
  const materialized = groups.flatMap((group) =>
    group.under.map(({ hour, traceSetHash }) => ({
      first: group.first,
      last: group.last,
      hour,
      slice,
      slices,
      traceSetHash,
      fingerprint: fingerprints.of(group),
      hourFingerprint: fingerprints.of(singleHour(hour)),
      records: records.get(group)?.get(hour) ?? [],
    })),
  );
  return { materialized };
}

/** By traces, so that a trace is in the same part whoever folds. */
function isOfSlice({ slice, slices }: TraceSlice): Sql {
  return sql`cityHash64(trace_id) % ${param("UInt32", slices)} = ${param("UInt32", slice)}`;
}

function byGroupAndHour(
  groups: readonly SpanToFold[],
  { records, hours }: FoldedRecords,
): ReadonlyMap<SpanToFold, ReadonlyMap<number, readonly UsageRecord[]>> {
  const groupOf = new Map(groups.flatMap((group) => group.traceIds.map((id) => [id, group] as const)));
  const found = new Map(groups.map((group) => [group, new Map<number, UsageRecord[]>()]));
  for (const [place, record] of records.entries()) {
    const ofGroup = found.get(groupOf.get(record.trace_id) ?? groups[0]!)!;
    const hour = hours[place]!;
    const known = ofGroup.get(hour);
    if (known === undefined) ofGroup.set(hour, [record]);
    else known.push(record);
  }
  return found;
}

interface State {
  readonly hour: number;
  readonly whole: string;
  readonly ofMembers: string;
  /** Of the members. */
  readonly rows: number;
}

function readStates(
  engine: Engine,
  project: Project,
  { hours, members }: { readonly hours: Sql; readonly members: Sql },
  signal: AbortSignal,
): Promise<readonly State[]> {
  return engine.rows<State>(
    sql`SELECT hour, toString(sum(fingerprint)) AS whole, toString(sumIf(fingerprint, isMember)) AS ofMembers,
          countIf(isMember) AS rows
        FROM (SELECT hour, fingerprint, ${members} AS isMember FROM calls
              PREWHERE project_id = ${param("String", project)} AND ${hours})
        GROUP BY hour`,
    { name: "usage_rollup_states", limits: "maintenance", signal },
  );
}
