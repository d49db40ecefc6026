import type { CallEvent } from "../calls/events/call-event.ts";
import type { ContentRow } from "../content/content-writer.ts";
import type { FeedbackChange } from "../feedback/feedback-row.ts";
import type { ApiKey } from "../http/auth/api-key.ts";
import type { LargeBodyResponse } from "../http/bodies/large-body.ts";
import type { ErrorCode, Issue } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";

export interface WorkerSettings {
  readonly bodyLimitBytes: number;
}

/** Request with a large body and its API key. */
export interface LargeRequest {
  readonly url: string;
  readonly nowMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly key: Omit<ApiKey, "secretHash">;
}

/** Chunk of the items of one writer call. */
export type Items =
  | { readonly writer: "calls"; readonly project: Project; readonly items: readonly CallEvent[] }
  | { readonly writer: "feedback"; readonly items: readonly FeedbackChange[] }
  | { readonly writer: "content"; readonly items: readonly ContentRow[] };

/** Writer result per item: its trace or time. */
export type Written = readonly (string | number | undefined)[];

export type ToWorker =
  | { readonly kind: "request"; readonly job: number; readonly request: LargeRequest }
  /** The next chunk may be sent. */
  | { readonly kind: "accepted"; readonly chunk: number }
  | { readonly kind: "written"; readonly chunk: number; readonly written: Written }
  | { readonly kind: "failed"; readonly chunk: number };

export interface RequestRejection {
  readonly code: ErrorCode;
  readonly message: string;
  readonly issues: readonly Issue[];
  readonly retryAfterSeconds: number | undefined;
}

export type FromWorker =
  | { readonly kind: "write"; readonly job: number; readonly chunk: number; readonly of: Items }
  | { readonly kind: "responded"; readonly job: number; readonly response: LargeBodyResponse }
  | { readonly kind: "rejected"; readonly job: number; readonly rejection: RequestRejection }
  /** An unexpected error, or a writer's. */
  | { readonly kind: "broken"; readonly job: number; readonly error: unknown };
