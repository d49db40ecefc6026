import { stringifyJson } from "../shared/json.ts";
import { toStoreText, type EpochMicros } from "../shared/instant.ts";
import { completionIdOf, REPORTERS, type Reporter } from "./completion.ts";
import { collectRefs } from "./refs.ts";
import { encodeUsage, readUsage, type Usage } from "./usage.ts";

/**
 * Whether a call's usage already holds that of its children. `per_llm`: yes, under the LLM of each, as the Weave SDKs
 * send it. `in_total`: yes, all under the one LLM that the call names, whatever its children used, as spans of
 * OpenTelemetry do: a wrapper names the model that was asked for, its children the one that answered.
 */
export type Inclusive = (typeof INCLUSIVE)[number];
/** The column `inclusive` holds a place in this list. */
export const INCLUSIVE = [false, "per_llm", "in_total"] as const;

/** What a client says when a call begins. Payloads are parsed JSON, at most `MAX_JSON_DEPTH` deep. */
export interface CallStart {
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly opName: string;
  readonly startedAt: EpochMicros;
  readonly displayName: string | null;
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly userId: string | null;
  readonly runId: string | null;
  readonly runStep: number | null;
  readonly inputs: unknown;
  readonly attributes: unknown;
  readonly inclusive: Inclusive;
}

/** What a client says when a call ends. */
export interface CallEnd {
  readonly id: string;
  readonly endedAt: EpochMicros;
  readonly displayName: string | null;
  readonly output: unknown;
  readonly summary: unknown;
  readonly exception: string | null;
  /** Default: what `summary.usage` says. */
  readonly usage?: readonly Usage[];
  /** The provider's id of the completion whose usage this is, '' for none. Default: what `output` says. */
  readonly completionId?: string;
  /** Default: the client. */
  readonly reportedBy?: Reporter;
}

/**
 * One part of a call as it is stored: the columns it writes, and its trace when the part names it. Parts of a call
 * commute: they may come in any order, more than once.
 */
export interface CallPart {
  readonly id: string;
  readonly kind: "start" | "complete" | "end" | "rename" | "delete";
  readonly traceId: string | undefined;
  readonly columns: Readonly<Record<string, string | number | readonly string[] | null>>;
}

export function startPart(start: CallStart): CallPart {
  return { id: start.id, kind: "start", traceId: start.traceId, columns: startColumns(start) };
}

export function completePart(start: CallStart, end: CallEnd): CallPart {
  return {
    id: start.id,
    kind: "complete",
    traceId: start.traceId,
    columns: { ...startColumns(start), ...endColumns(end) },
  };
}

export function endPart(end: CallEnd): CallPart {
  return { id: end.id, kind: "end", traceId: undefined, columns: endColumns(end) };
}

export function renamePart(id: string, displayName: string): CallPart {
  return { id, kind: "rename", traceId: undefined, columns: { renamed_to: displayName.toWellFormed() } };
}

export function deletePart(id: string, traceId: string | undefined, deletedAt: EpochMicros): CallPart {
  return { id, kind: "delete", traceId, columns: { deleted_at: toStoreText(deletedAt) } };
}

function startColumns(start: CallStart): CallPart["columns"] {
  return {
    parent_id: text(start.parentId),
    op_name: text(start.opName),
    started_at: toStoreText(start.startedAt),
    start_display_name: text(start.displayName),
    thread_id: text(start.threadId),
    turn_id: text(start.turnId),
    svc_user_id: text(start.userId),
    svc_run_id: text(start.runId),
    svc_run_step: start.runStep,
    inputs: stringifyJson(start.inputs ?? {}),
    attributes: stringifyJson(start.attributes ?? {}),
    inclusive: INCLUSIVE.indexOf(start.inclusive),
    input_refs: collectRefs(start.inputs),
  };
}

function endColumns(end: CallEnd): CallPart["columns"] {
  return {
    ended_at: toStoreText(end.endedAt),
    end_display_name: text(end.displayName),
    output: stringifyJson(end.output ?? null),
    summary: stringifyJson(end.summary ?? {}),
    exception: text(end.exception),
    usage: encodeUsage(end.usage ?? readUsage(end.summary)),
    completion_id: end.completionId ?? completionIdOf(end.output),
    reported_by: REPORTERS.indexOf(end.reportedBy ?? "client"),
    output_refs: collectRefs(end.output),
  };
}

/** '' says "none", which a part sent again can overwrite; NULL would say "nothing new". */
function text(value: string | null): string {
  return (value ?? "").toWellFormed();
}
