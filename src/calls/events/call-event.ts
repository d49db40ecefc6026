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

/** What a client says when a call begins. Payloads are parsed JSON, at most `MAX_JSON_DEPTH` deep. */
export interface CallStart {
  readonly id: string;
  /** Undefined: the trace the call already has, else its parent's, else one derived from the call's id. */
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
  /** The id of the API key that it was sent with. */
  readonly apiKey?: Patch<string>;
  /** Set together with the attributes that it is read from. */
  readonly inclusive?: Patch<Inclusive>;
}

/** What a client says when a call ends. */
export interface CallEnd {
  readonly id: string;
  readonly endedAt?: Patch<EpochMicros>;
  readonly displayName?: Patch<string>;
  readonly output?: unknown;
  readonly summary?: unknown;
  readonly exception?: Patch<string>;
  /** Default: read from `summary.usage` and `output`. */
  readonly usage?: readonly Usage[] | undefined;
  /** The provider's id of the completion whose usage this is, '' for none. Default: read from `output`. */
  readonly completionId?: string | undefined;
  /** Default: the client. */
  readonly reportedBy?: UsageSource;
}

/**
 * One part of a call as it is stored: the columns that it writes, and its trace if the part names one. If two parts
 * write the same column, the one acknowledged last wins.
 */
export interface CallEvent {
  readonly id: string;
  readonly kind: "start" | "complete" | "end" | "rename" | "delete";
  readonly traceId: string | undefined;
  /** The hour in the call's key, if known. For a start, the hour in which the call began. */
  readonly hour: number | undefined;
  readonly columns: Columns;
  /** How its usage was read, if there was a choice. */
  readonly reading?: UsageReading | undefined;
}

/** A part, and the project that it belongs to. */
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

/** A whole call or, without `endedAt`, a call that is still running. */
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

/** Usage details are read from the output only if a summary counts the usage. */
function endColumns(end: CallEnd): Columns {
  const { summary, output } = end;
  const usage = end.usage ?? (summary === undefined ? undefined : readUsage(summary, output));
  return columnsOf(endMembers, { ...end, usage });
}

export function renameEvent(id: string, displayName: string | null): CallEvent {
  const columns = columnsOf(renameMembers, { displayName });
  return { id, kind: "rename", traceId: undefined, hour: undefined, columns };
}

/** `place`: where the call is stored, if known. */
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

/**
 * The columns of a part that a pending part may write too; undefined if there are none. Tombstones are all equal, so
 * their order does not matter.
 */
export function orderSensitiveEvent(event: CallEvent): CallEvent | undefined {
  if (event.kind === "end" || event.kind === "rename") return event;
  if (event.kind !== "complete") return undefined;
  const columns = Object.fromEntries(
    Object.entries(event.columns).filter(([name]) => !startColumnNames.has(name)),
  );
  return { id: event.id, kind: "end", traceId: event.traceId, hour: event.hour, columns };
}
