import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { validManifests, traceSetHashes, EMPTY_TRACE_SET, validityKey } from "./coverage.ts";
import { readFingerprints } from "./fingerprints.ts";
import { foldSpans, type SpanToFold, type FoldRequest } from "./fold-span.ts";
import { spanKey, hoursIn, singleHour, type HourSpan } from "./hour-span.ts";
import { readManifests } from "./manifests.ts";
import { hourIn } from "./hour.ts";
import type { MaterializedSlice } from "./rows.ts";
import { isTooLong, readMultiHourTraces, type MultiHourTraces } from "./multi-hour-traces.ts";

export interface MaterializeRequest {
  readonly project: Project;
  readonly hours: readonly HourWithRows[];
  /** Traces that lie under later hours too are left for later. */
  readonly beforeHour: number;
  /** Also groups that the ledger has as they are. */
  readonly again?: boolean;
  /** Rows of `calls` that are folded at once, if traces are small enough. Default: 50,000. */
  readonly rowsPerFold?: number;
}

export interface HourWithRows {
  readonly hour: number;
  /** How many rows of `calls` it has. */
  readonly rows: number;
}

/** What becomes of what was folded: it is written, or compared with what was written. */
export interface RollupSink {
  add(materialized: readonly MaterializedSlice[]): Promise<void>;
  flush(): Promise<void>;
}

interface Reading {
  readonly engine: Engine;
  readonly signal: AbortSignal;
}
interface Into extends Reading {
  readonly batches: RollupSink;
  readonly rowsPerFold: number;
}

/** Where a part of the traces has more, they are always folded live. */
const MAX_ROWS_PER_FOLD = 400_000;
const TRACES_PER_FOLD = 2000;

/**
 * Writes what the calls of some hours themselves used into the ledger: first what the groups of several hours have under them, then
 * what is their own. So the groups of an hour that is settled are too, whenever the process is killed. What is written is true of
 * what it says it is true of, whenever it arrives. Returns the hours that cannot be settled as they are.
 */
export async function materializeHours(
  reading: Reading,
  requested: MaterializeRequest,
  batches: RollupSink,
): Promise<readonly number[]> {
  const { project, hours, rowsPerFold = 50_000 } = requested;
  const multiHour = await readMultiHourTraces(
    reading.engine,
    project,
    hourIn(hours.map(({ hour }) => hour)),
    {
      name: "usage_rollup_spanning_traces",
      signal: reading.signal,
    },
  );
  const into = { ...reading, batches, rowsPerFold };
  const changed = new Set<number>();
  for (const groups of inFolds(await spansToMaterialize(reading, requested, multiHour)))
    for (const hour of await materializeSpans(into, project, groups)) changed.add(hour);
  const hashes = traceSetHashes(multiHour);
  const multiHourUnder = Map.groupBy(multiHour, ({ hour }) => hour);
  const notMaterializable: number[] = [];
  for (const { hour, rows } of hours) {
    if (changed.has(hour)) continue;
    const excluded = multiHourUnder.get(hour)?.flatMap(({ traceIds }) => traceIds) ?? [];
    const under = [{ hour, traceSetHash: hashes.get(hour) ?? EMPTY_TRACE_SET }];
    const own: FoldRequest = {
      project,
      groups: [{ ...singleHour(hour), under, traceIds: [] }],
      members: sql`trace_id NOT IN ${param("Array(String)", excluded)}`,
    };
    if ((await materializeInSlices(into, own, rows)) === "refused") notMaterializable.push(hour);
  }
  await batches.flush();
  return notMaterializable;
}

/** Returns the hours of those that changed meanwhile. */
async function materializeSpans(
  into: Into,
  project: Project,
  groups: readonly SpanToFold[],
): Promise<readonly number[]> {
  const traceIds = groups.flatMap((group) => group.traceIds);
  const together: FoldRequest = {
    project,
    groups,
    members: sql`trace_id IN ${param("Array(String)", traceIds)}`,
  };
  const folded = await foldSpans(into, together, { slice: 0, slices: 1, maxRows: into.rowsPerFold });
  const hours = groups.flatMap(({ under }) => under.map(({ hour }) => hour));
  if (folded.failed === undefined) {
    await into.batches.add(folded.materialized);
    return [];
  }
  if (folded.failed === "changed") return hours;
  if (groups.length === 1)
    return (await materializeInSlices(into, together, folded.rows)) === "changed" ? hours : [];
  const half = Math.ceil(groups.length / 2);
  return [
    ...(await materializeSpans(into, project, groups.slice(0, half))),
    ...(await materializeSpans(into, project, groups.slice(half))),
  ];
}

/** `rows`: about as many as they have. */
async function materializeInSlices(
  into: Into,
  toFold: FoldRequest,
  rows: number,
): Promise<"settled" | "changed" | "refused"> {
  const slices = Math.max(1, Math.ceil(rows / into.rowsPerFold));
  for (let part = 0; part < slices; part++) {
    const folded = await foldSpans(into, toFold, { slice: part, slices, maxRows: MAX_ROWS_PER_FOLD });
    if (folded.failed !== undefined) return folded.failed === "changed" ? "changed" : "refused";
    await into.batches.add(folded.materialized);
  }
  return "settled";
}

/** The groups that have traces under some hours, lie under earlier hours alone, and are not settled. */
async function spansToMaterialize(
  { engine, signal }: Reading,
  { project, beforeHour, again }: MaterializeRequest,
  multiHour: readonly MultiHourTraces[],
): Promise<readonly SpanToFold[]> {
  const isRequested = (group: HourSpan): boolean => !isTooLong(group) && group.last < beforeHour;
  const requested = new Map(multiHour.filter(isRequested).map((group) => [spanKey(group), group]));
  if (requested.size === 0) return [];
  // all traces of a group lie under its first hour, so that nothing of it is missing under the others
  const firsts = hourIn([...new Set([...requested.values()].map(({ first }) => first))]);
  const found = await readMultiHourTraces(engine, project, firsts, { name: "usage_rollup_groups", signal });
  const groups = Map.groupBy(
    found.filter((group) => requested.has(spanKey(group))),
    spanKey,
  );
  const hours = hourIn([...new Set([...requested.values()].flatMap(hoursIn))]);
  const current = again === true ? new Map() : await readCurrent({ engine, project, signal }, hours);
  return [...groups.values()]
    .filter((under) => !under.every((one) => current.has(validityKey(one))))
    .map((under) => {
      const traceIds = [...new Set(under.flatMap((one) => one.traceIds))];
      return { first: under[0]!.first, last: under[0]!.last, under, traceIds };
    });
}

/** What the ledger has of some hours as they are now, by its state. */
async function readCurrent(
  {
    engine,
    project,
    signal,
  }: { readonly engine: Engine; readonly project: Project; readonly signal: AbortSignal },
  hours: Sql,
): Promise<ReadonlyMap<string, unknown>> {
  const [manifests, fingerprints] = await Promise.all([
    readManifests(engine, project, hours, signal),
    readFingerprints(engine, project, hours, { name: "usage_rollup_fingerprints", signal }),
  ]);
  return validManifests(manifests, fingerprints);
}

/** Some groups at a time, by how many traces they have. */
function inFolds(groups: readonly SpanToFold[]): readonly (readonly SpanToFold[])[] {
  const folds: SpanToFold[][] = [];
  let room = 0;
  for (const group of groups) {
    if (room < group.traceIds.length || folds.length === 0) {
      folds.push([]);
      room = TRACES_PER_FOLD;
    }
    folds.at(-1)!.push(group);
    room -= group.traceIds.length;
  }
  return folds;
}
