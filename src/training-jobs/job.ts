import type { Project } from "../shared/project.ts";

export const KINDS = ["rl", "sft"] as const;
export const STATUSES = ["uploading", "pending", "running", "completed", "failed", "unknown"] as const;
export type JobKind = (typeof KINDS)[number];
export type JobStatus = (typeof STATUSES)[number];

/** Name and origin of a model; null if nobody knows. */
export interface JobModel {
  readonly base_model: string | null;
  /** `entity/project/name` */
  readonly output_model: string | null;
}

/** Digest and size of an uploaded body, as far as it was read. */
export interface Dataset {
  readonly sha256: string;
  readonly bytes: number;
  /** Null for a compressed body. */
  readonly lines: number | null;
}

/** Row of `training_jobs`: a training job, or an upload that is none yet. */
export interface Job extends JobModel, Dataset {
  readonly project_id: Project;
  readonly id: string;
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly error: string | null;
  readonly forgotten: 0 | 1;
  readonly model_id: string | null;
  readonly api_key: string;
  readonly svc_user_id: string | null;
  readonly request: string;
  readonly export_id: string | null;
  readonly is_sent: 0 | 1;
  readonly metrics: string;
  readonly checkpoints: string;
  readonly stated_cost: number | null;
  readonly course: string;
  readonly created_at_us: number;
  readonly ended_at_us: number | null;
  readonly checked_at_ms: number;
  readonly checked_by: string;
  readonly removed: 0 | 1;
  readonly version: number;
}

export interface Checkpoint {
  readonly id: string;
  readonly step: number;
  /** Name under which it answers; null if that of its model is not known. */
  readonly llm: string | null;
}

const STAGE = 2 ** 50;

/**
 * Versions of rows, by stage: whatever order they are written in, and by however many services, an end wins over a course,
 * the first of two ends, and a job that is created again changes nothing.
 */
export const versions = {
  created: (atMs: number): number => STAGE - atMs,
  changed: (atMs: number, before = 0): number => Math.max(STAGE + atMs, before + 1),
  ended: (atMs: number): number => 3 * STAGE - atMs,
  removed: 3 * STAGE + 1,
};

/** An upload that was not refreshed for so long has lost its service. */
export const UPLOAD_LOST_MS = 45_000;
/** A job is given up after so long. */
export const GIVEN_UP_MS = 30 * 86_400_000;
