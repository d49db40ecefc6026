import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { Fingerprints } from "./fingerprints.ts";
import { foldCalls, type FoldedCalls } from "./fold-calls.ts";
import type { Entry } from "./entry.ts";
import { hoursOf, ofHour, type Group } from "./group.ts";
import { oneOf } from "./hour.ts";
import type { SettledUnder } from "./rows.ts";

/** Traces to fold together: of some groups of several hours, or an hour's own. */
export interface ToFold {
  readonly project: Project;
  readonly groups: readonly GroupToFold[];
  /** A condition: the calls of these traces, under the hours of the groups. */
  readonly members: Sql;
}

export interface GroupToFold extends Group {
  /** The hours under which its traces have calls, with their digests (`Head.digest`). */
  readonly under: readonly { readonly hour: number; readonly digest: string }[];
  /** Of an hour's own, none are named. */
  readonly traceIds: readonly string[];
}

/** One of so many parts of the traces. */
export interface Part {
  readonly part: number;
  readonly parts: number;
}

export type Folded =
  | { readonly failed?: undefined; readonly settled: readonly SettledUnder[] }
  /** They changed meanwhile; or they have too many rows of `calls` to be folded at once; or an entry cannot be stored exactly. */
  | { readonly failed: "changed" | "too many" | "inexact"; readonly rows: number };

/**
 * What the calls of some traces themselves used. One statement has the fingerprints of the hours and, of the same rows, that
 * of the traces; another one reads the traces. If both have the same fingerprint of the traces, the calls are those of the
 * hours' fingerprints, whichever replicas were read, and when.
 */
export async function foldGroups(
  { engine, signal }: { readonly engine: Engine; readonly signal: AbortSignal },
  { project, groups, members }: ToFold,
  { part, parts, maxRows }: Part & { readonly maxRows: number },
): Promise<Folded> {
  const hours = oneOf([...new Set(groups.flatMap(hoursOf))]);
  const ofPart = parts === 1 ? members : sql`${members} AND ${isOfPart({ part, parts })}`;
  const states = await readStates(engine, project, { hours, members: ofPart }, signal);
  const rows = states.reduce((sum, state) => sum + state.rows, 0);
  if (rows > maxRows) return { rows, failed: "too many" };
  const calls = await foldCalls(engine, { project, within: sql`${hours} AND ${ofPart}` }, signal);
  if (calls === undefined) return { rows, failed: "inexact" };
  const expected = states.reduce((sum, state) => sum + BigInt(state.ofMembers), 0n);
  if (calls.fingerprint !== BigInt.asUintN(64, expected)) return { rows, failed: "changed" };
  const fingerprints = new Fingerprints(new Map(states.map(({ hour, whole }) => [hour, BigInt(whole)])));
  const entries = byGroupAndHour(groups, calls);
  const settled = groups.flatMap((group) =>
    group.under.map(({ hour, digest }) => ({
      first: group.first,
      last: group.last,
      hour,
      part,
      parts,
      digest,
      fingerprint: fingerprints.of(group),
      hourFingerprint: fingerprints.of(ofHour(hour)),
      entries: entries.get(group)?.get(hour) ?? [],
    })),
  );
  return { settled };
}

/** By traces, so that a trace is in the same part whoever folds. */
function isOfPart({ part, parts }: Part): Sql {
  return sql`cityHash64(trace_id) % ${param("UInt32", parts)} = ${param("UInt32", part)}`;
}

function byGroupAndHour(
  groups: readonly GroupToFold[],
  { entries, hours }: FoldedCalls,
): ReadonlyMap<GroupToFold, ReadonlyMap<number, readonly Entry[]>> {
  const groupOf = new Map(groups.flatMap((group) => group.traceIds.map((id) => [id, group] as const)));
  const found = new Map(groups.map((group) => [group, new Map<number, Entry[]>()]));
  for (const [place, entry] of entries.entries()) {
    const ofGroup = found.get(groupOf.get(entry.trace_id) ?? groups[0]!)!;
    const hour = hours[place]!;
    const known = ofGroup.get(hour);
    if (known === undefined) ofGroup.set(hour, [entry]);
    else known.push(entry);
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
    { name: "ledger_states", limits: "maintenance", signal },
  );
}
