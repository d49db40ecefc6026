import type { Project } from "../shared/project.ts";

export interface FeedbackKey {
  readonly project: Project;
  readonly id: string;
}

/** The stored content of a feedback. */
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
  /** Its approximate size in memory and on the wire. */
  readonly bytes: number;
  /** Undefined: purge. */
  readonly columns: FeedbackColumns | undefined;
  readonly time: FeedbackTime;
}

/**
 * The time of a feedback. `new`: now; the id is new. `kept`: now, unless the id exists; then it keeps its time. `set`: as
 * an import states it, even if the id exists.
 */
export interface FeedbackTime {
  readonly kind: "new" | "kept" | "set";
  readonly us: number;
}

export function keyText({ project, id }: FeedbackKey): string {
  return `${project}\n${id}`;
}
