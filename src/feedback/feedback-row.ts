import type { Project } from "../shared/project.ts";

export interface FeedbackKey {
  readonly project: Project;
  readonly id: string;
}

/** Stored columns of a feedback, besides its key and time. */
export interface FeedbackColumns {
  readonly feedback_type: string;
  readonly weave_ref: string;
  readonly creator: string | null;
  readonly svc_user_id: string;
  readonly annotation_ref: string | null;
  readonly runnable_ref: string | null;
  readonly call_ref: string | null;
  readonly trigger_ref: string | null;
  readonly queue_id: string | null;
  /** JSON. */
  readonly payload: string;
  /** JSON, or empty. */
  readonly scorer: string;
  readonly numbers: Readonly<Record<string, number>>;
  readonly booleans: Readonly<Record<string, 0 | 1>>;
  readonly texts: readonly string[];
}

/** A feedback to store, or to purge. */
export interface FeedbackChange extends FeedbackKey {
  /** Approximate size in memory and on the wire. */
  readonly bytes: number;
  /** `undefined`: purge. */
  readonly columns: FeedbackColumns | undefined;
  readonly time: FeedbackTime;
}

/** Time of a feedback. `new`: now, for a new id; `kept`: the stored time if the id exists, else now; `set`: as imported. */
export interface FeedbackTime {
  readonly kind: "new" | "kept" | "set";
  readonly us: number;
}

export function keyText({ project, id }: FeedbackKey): string {
  return `${project}\n${id}`;
}
