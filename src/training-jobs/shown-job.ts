import { isoOf } from "../shared/instant.ts";
import { isJsonObject, parseOrUndefined } from "../shared/json.ts";
import { checkpointsOf } from "./course.ts";
import { GIVEN_UP_MS } from "./job.ts";
import type { ShownJob } from "./job-store.ts";
import type { ShownTrainingJob } from "./schema.ts";

/** A job as the interface shows it. */
export function shownJob(job: ShownJob): ShownTrainingJob {
  const { error, endedAtUs } = endOf(job);
  const request = parseOrUndefined(job.request);
  return {
    id: job.id,
    kind: job.kind,
    base_model: job.base_model,
    output_model: job.output_model,
    model_id: job.model_id,
    status: job.shown_status,
    error,
    forgotten: job.forgotten === 1,
    created_at: isoOf(job.created_at_us),
    ended_at: endedAtUs === null ? null : isoOf(endedAtUs),
    created_by: { api_key: job.api_key, svc_user_id: job.svc_user_id },
    request: isJsonObject(request) ? request : {},
    dataset: { sha256: job.sha256, bytes: job.bytes, lines: job.lines, export_id: job.export_id },
    metrics: parseOrUndefined(job.metrics) as Record<string, number>,
    checkpoints: [...checkpointsOf(job)],
    stated_cost: job.stated_cost,
  };
}

/** Nobody has stored the end of an upload whose service is gone, or of a job that was given up. */
function endOf(job: ShownJob): { readonly error: string | null; readonly endedAtUs: number | null } {
  if (job.shown_status === job.status) return { error: job.error, endedAtUs: job.ended_at_us };
  if (job.status !== "uploading")
    return { error: "Nobody saw it end.", endedAtUs: job.created_at_us + GIVEN_UP_MS * 1000 };
  const phase = job.is_sent === 1 ? "before the response" : "during the upload";
  return { error: `The gateway ended ${phase}.`, endedAtUs: job.checked_at_ms * 1000 };
}
