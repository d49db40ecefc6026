import { hourOf, type EpochMicros } from "../../shared/instant.ts";
import { readUsage } from "../../usage/read-usage.ts";
import type { Project } from "../../shared/project.ts";
import type { Usage } from "../../usage/usage.ts";
import type { UsageSource } from "./completion.ts";
import type { UsageReading } from "./usage-basis.ts";
import {
  columnsOf,
  deleteMembers,
  endMembers,
  renameMembers,
  startColumnNames,
  startMembers,
  type Columns,
  type Inclusive,
  type Patch,
} from "./message-columns.ts";

/** Start message of a call. Payloads are parsed JSON, at most `MAX_JSON_DEPTH` deep. */
export interface CallStart {
  readonly id: string;
  /** Default: the call's existing trace, else its parent's, else one derived from the call's id. */
  readonly traceId: string | undefined;
  readonly parentId?: Patch<string>;
  readonly opName: string;
  readonly startedAt: EpochMicros;
  readonly displayName?: Patch<string>;
  readonly threadId?: Patch<string>;
  readonly turnId?: Patch<string>;
  readonly userId?: Patch<string>;
  readonly runId?: Patch<string>;
  readonly runStep?: Patch<number>;
  readonly inputs?: unknown;
  readonly attributes?: unknown;
  /** Id of the API key of the request. */
  readonly apiKey?: Patch<string>;
  /** Set together with `attributes`, from which it is derived. */
  readonly inclusive?: Patch<Inclusive>;
}

/** End message of a call. */
export interface CallEnd {
  readonly id: string;
  readonly endedAt?: Patch<EpochMicros>;
  readonly displayName?: Patch<string>;
  readonly output?: unknown;
  readonly summary?: unknown;
  readonly exception?: Patch<string>;
  /** Default: read from `summary.usage` and `output`. */
  readonly usage?: readonly Usage[] | undefined;
  /** Provider's completion id of this usage, '' for none. Default: read from `output`. */
  readonly completionId?: string | undefined;
  /** Default: the client. */
  readonly usageSource?: UsageSource;
}

/**
 * Call event: the columns it writes, and its trace if the message names one. If two events write the same column, the one
 * acknowledged last wins.
 */
export interface CallEvent {
  readonly id: string;
  readonly kind: "start" | "complete" | "end" | "rename" | "delete";
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
  return {
    id: start.id,
    kind: "start",
    traceId: start.traceId,
    hour: hourOf(start.startedAt),
    columns: columnsOf(startMembers, start),
  };
}

/** Builds the event of a complete call or, without `endedAt`, of a running one. */
export function completeEvent(start: CallStart, end: CallEnd): CallEvent {
  return {
    id: start.id,
    kind: "complete",
    traceId: start.traceId,
    hour: hourOf(start.startedAt),
    columns: { ...columnsOf(startMembers, start), ...endColumns(end) },
  };
}

export function endEvent(end: CallEnd): CallEvent {
  return {
    id: end.id,
    kind: "end",
    traceId: undefined,
    hour: undefined,
    columns: endColumns(end),
  };
}

/** Reads usage details from the output only if the summary counts usage. */
function endColumns(end: CallEnd): Columns {
  const { summary, output } = end;
  const usage = end.usage ?? (summary === undefined ? undefined : readUsage(summary, output));
  return columnsOf(endMembers, { ...end, usage });
}

export function renameEvent(id: string, displayName: string | null): CallEvent {
  const columns = columnsOf(renameMembers, { displayName });
  return { id, kind: "rename", traceId: undefined, hour: undefined, columns };
}

/** `key`: storage key of the call, if known. */
export function deleteEvent(
  id: string,
  key: { readonly traceId: string; readonly hour: number } | undefined,
  deletedAt: EpochMicros,
): CallEvent {
  const columns = columnsOf(deleteMembers, { deletedAt });
  return { id, kind: "delete", traceId: key?.traceId, hour: key?.hour, columns };
}

export function isStart(event: CallEvent): boolean {
  return event.kind === "start" || event.kind === "complete";
}

/** Returns the columns of an event that pending events may write too. */
export function pendingColumns(event: CallEvent): Columns {
  if (!isStart(event)) return event.columns;
  return Object.fromEntries(Object.entries(event.columns).filter(([name]) => !startColumnNames.has(name)));
}
