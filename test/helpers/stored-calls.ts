import { indexCallKeys } from "../../src/calls/storage-key/key-lookup.ts";
import { createTraceHourIndex } from "../../src/calls/storage-key/trace-hours.ts";
import type { Engine } from "../../src/store/engine.ts";
import { stringifyJson } from "../../src/shared/json.ts";
import type { Project } from "../../src/shared/project.ts";

/** A call as the vectors write it. */
export interface StoredCall {
  readonly id: string;
  readonly project_id: string;
  readonly trace_id: string;
  readonly parent_id: string | null;
  readonly op_name: string;
  readonly display_name: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly thread_id: string | null;
  readonly turn_id: string | null;
  readonly svc_user_id: string | null;
  readonly svc_run_id: string | null;
  readonly svc_run_step: number | null;
  readonly exception: string | null;
  readonly inputs: unknown;
  readonly output: unknown;
  readonly attributes: unknown;
  readonly summary: unknown;
  readonly input_refs: readonly string[];
  readonly output_refs: readonly string[];
  readonly deleted_at: string | null;
}

/** Puts calls into the table as their start and end would. */
export async function storeCalls(engine: Engine, calls: readonly StoredCall[]): Promise<void> {
  const rows = calls.map((call) => ({
    project_id: call.project_id as Project,
    hour: Math.floor(Date.parse(call.started_at) / 3_600_000),
    trace_id: call.trace_id,
    id: call.id,
    parent_id: call.parent_id ?? "",
    op_name: call.op_name,
    started_at: storeText(call.started_at),
    start_display_name: call.display_name ?? "",
    thread_id: call.thread_id ?? "",
    turn_id: call.turn_id ?? "",
    svc_user_id: call.svc_user_id ?? "",
    svc_run_id: call.svc_run_id ?? "",
    svc_run_step: call.svc_run_step,
    inputs: stringifyJson(call.inputs),
    attributes: stringifyJson(call.attributes),
    input_refs: JSON.stringify(call.input_refs),
    ended_at: call.ended_at === null ? null : storeText(call.ended_at),
    output: call.ended_at === null ? null : stringifyJson(call.output),
    summary: call.ended_at === null ? null : stringifyJson(call.summary),
    exception: call.ended_at === null ? null : (call.exception ?? ""),
    output_refs: JSON.stringify(call.output_refs),
    deleted_at: call.deleted_at === null ? null : storeText(call.deleted_at),
  }));
  const hours = rows.map(({ project_id, trace_id, hour }) => ({ project_id, trace_id, hour }));
  await createTraceHourIndex(engine)(hours);
  await indexCallKeys(engine, rows);
  await engine.insert("calls", rows, { name: "test_calls" });
}

function storeText(iso: string): string {
  return iso.replace("T", " ").replace("Z", "");
}
