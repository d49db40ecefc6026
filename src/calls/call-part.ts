import { hourOf, type EpochMicros } from "../shared/instant.ts";
import { readUsage } from "../usage/read-usage.ts";
import type { Usage } from "../usage/usage.ts";
import type { Reporter } from "./completion.ts";
import {
  columnsOf,
  deleteMembers,
  endMembers,
  renameMembers,
  startColumnNames,
  startMembers,
  type Columns,
  type Inclusive,
  type Said,
} from "./message-columns.ts";

/** What a client says when a call begins. Payloads are parsed JSON, at most `MAX_JSON_DEPTH` deep. */
export interface CallStart {
  readonly id: string;
  /** Undefined: where the call is already, else where its parent is, else a trace that is always the same. */
  readonly traceId: string | undefined;
  readonly parentId?: Said<string>;
  readonly opName: string;
  readonly startedAt: EpochMicros;
  readonly displayName?: Said<string>;
  readonly threadId?: Said<string>;
  readonly turnId?: Said<string>;
  readonly userId?: Said<string>;
  readonly runId?: Said<string>;
  readonly runStep?: Said<number>;
  readonly inputs?: unknown;
  readonly attributes?: unknown;
  /** Said with the attributes that tell of it. */
  readonly inclusive?: Said<Inclusive>;
}

/** What a client says when a call ends. */
export interface CallEnd {
  readonly id: string;
  readonly endedAt?: Said<EpochMicros>;
  readonly displayName?: Said<string>;
  readonly output?: unknown;
  readonly summary?: unknown;
  readonly exception?: Said<string>;
  /** Default: what `summary.usage` says, and `output` of the same. */
  readonly usage?: readonly Usage[] | undefined;
  /** The provider's id of the completion whose usage this is, '' for none. Default: what `output` says. */
  readonly completionId?: string | undefined;
  /** Default: the client. */
  readonly reportedBy?: Reporter;
}

/**
 * One part of a call as it is stored: the columns it writes, and its trace when the part names it. Of two parts that
 * write a column the one that was acknowledged last holds.
 */
export interface CallPart {
  readonly id: string;
  readonly kind: "start" | "complete" | "end" | "rename" | "delete";
  readonly traceId: string | undefined;
  /** The hour in the key of its call, where it is known; of a start, that in which it says that the call began. */
  readonly hour: number | undefined;
  readonly columns: Columns;
}

export function startPart(start: CallStart): CallPart {
  return {
    id: start.id,
    kind: "start",
    traceId: start.traceId,
    hour: hourOf(start.startedAt),
    columns: columnsOf(startMembers, start),
  };
}

/** A whole call, or, without `endedAt`, what there is of one that still runs. */
export function completePart(start: CallStart, end: CallEnd): CallPart {
  return {
    id: start.id,
    kind: "complete",
    traceId: start.traceId,
    hour: hourOf(start.startedAt),
    columns: { ...columnsOf(startMembers, start), ...endColumns(end) },
  };
}

export function endPart(end: CallEnd): CallPart {
  return {
    id: end.id,
    kind: "end",
    traceId: undefined,
    hour: undefined,
    columns: endColumns(end),
  };
}

/** What an answer says of its usage is read only beside the summary that counts it. */
function endColumns(end: CallEnd): Columns {
  const isBoth = end.usage === undefined && end.summary != null && end.output != null;
  return columnsOf(endMembers, isBoth ? { ...end, usage: readUsage(end.summary, end.output) } : end);
}

export function renamePart(id: string, displayName: string | null): CallPart {
  const columns = columnsOf(renameMembers, { displayName });
  return { id, kind: "rename", traceId: undefined, hour: undefined, columns };
}

/** `place`: where the call lies, when that is known. */
export function deletePart(
  id: string,
  place: { readonly traceId: string; readonly hour: number } | undefined,
  deletedAt: EpochMicros,
): CallPart {
  const columns = columnsOf(deleteMembers, { deletedAt });
  return { id, kind: "delete", traceId: place?.traceId, hour: place?.hour, columns };
}

export function isStart(part: CallPart): boolean {
  return part.kind === "start" || part.kind === "complete";
}

/** What of a part a part that waited may write too; undefined when there is nothing. Tombstones are all alike. */
export function contestedPart(part: CallPart): CallPart | undefined {
  if (part.kind === "end" || part.kind === "rename") return part;
  if (part.kind !== "complete") return undefined;
  const columns = Object.fromEntries(
    Object.entries(part.columns).filter(([name]) => !startColumnNames.has(name)),
  );
  return { id: part.id, kind: "end", traceId: part.traceId, hour: part.hour, columns };
}
