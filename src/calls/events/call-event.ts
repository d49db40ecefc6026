import { hourOf, type EpochMicros } from "../../shared/instant.ts";
import { readUsage } from "../../usage/read-usage.ts";
import type { Project } from "../../shared/project.ts";
import type { UsageReading } from "./usage-basis.ts";
import {
  columnsOf,
  deleteMembers,
  endMembers,
  renameMembers,
  startColumnNames,
  startMembers,
  type Columns,
  type PatchOf,
} from "./message-columns.ts";

/** Start message of a call. Payloads are parsed JSON, at most `MAX_JSON_DEPTH` deep. */
export interface CallStart extends PatchOf<typeof startMembers> {
  readonly id: string;
  /** Default: the call's existing trace, else its parent's, else one derived from the call's id. */
  readonly traceId: string | undefined;
  readonly opName: string;
  readonly startedAt: EpochMicros;
}

/** End message of a call. `usage` and `completionId` are read from `summary.usage` and `output` by default. */
export interface CallEnd extends PatchOf<typeof endMembers> {
  readonly id: string;
}

/**
 * Call event: the columns it writes, and its trace if the message names one. If two events write the same column, the one
 * acknowledged last wins.
 */
export interface CallEvent {
  readonly id: string;
  readonly isStart: boolean;
  readonly traceId: string | undefined;
  /** Hour bucket of the call, if known; for a start, the hour in which the call began. */
  readonly hour: number | undefined;
  readonly columns: Columns;
  /** Interpretation of its usage, if several were possible. */
  readonly reading?: UsageReading | undefined;
}

export interface ProjectEvent {
  readonly project: Project;
  readonly event: CallEvent;
}

export function startEvent(start: CallStart): CallEvent {
  const { id, traceId, startedAt } = start;
  return { id, isStart: true, traceId, hour: hourOf(startedAt), columns: columnsOf(startMembers, start) };
}

/** Builds the event of a complete call or, without `endedAt`, of a running one. */
export function completeEvent(start: CallStart, end: CallEnd): CallEvent {
  const event = startEvent(start);
  return { ...event, columns: { ...event.columns, ...endColumns(end) } };
}

export function endEvent(end: CallEnd): CallEvent {
  return { id: end.id, isStart: false, traceId: undefined, hour: undefined, columns: endColumns(end) };
}

/** Reads usage details from the output only if the summary counts usage. */
function endColumns(end: CallEnd): Columns {
  const { summary, output } = end;
  const usage = end.usage ?? (summary === undefined ? undefined : readUsage(summary, output));
  return columnsOf(endMembers, { ...end, usage });
}

export function renameEvent(id: string, displayName: string | null): CallEvent {
  const columns = columnsOf(renameMembers, { displayName });
  return { id, isStart: false, traceId: undefined, hour: undefined, columns };
}

/** `key`: storage key of the call, if known. */
export function deleteEvent(
  id: string,
  key: { readonly traceId: string; readonly hour: number } | undefined,
  deletedAt: EpochMicros,
): CallEvent {
  const columns = columnsOf(deleteMembers, { deletedAt });
  return { id, isStart: false, traceId: key?.traceId, hour: key?.hour, columns };
}

/** Returns the columns of an event that pending events may write too. */
export function pendingColumns({ isStart, columns }: CallEvent): Columns {
  if (!isStart) return columns;
  return Object.fromEntries(Object.entries(columns).filter(([name]) => !startColumnNames.has(name)));
}
