import type { CallEvent } from "../calls/events/call-event.ts";
import type { ContentRow } from "../content/content-writer.ts";
import type { FeedbackChange } from "../feedback/feedback-row.ts";
import type { ApiKey } from "../http/auth/api-key.ts";
import type { LargeBodyResponse } from "../http/bodies/large-body.ts";
import type { ErrorCode, Issue } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";

export interface ThreadSettings {
  readonly bodyLimitBytes: number;
}

/** A request whose body is large, with the key that it came with. */
export interface LargeRequest {
  readonly url: string;
  readonly nowMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly key: Omit<ApiKey, "secretHash">;
}

/** Some of the items that one call of a writer stores. */
export type Items =
  | { readonly writer: "calls"; readonly project: Project; readonly items: readonly CallEvent[] }
  | { readonly writer: "feedback"; readonly items: readonly FeedbackChange[] }
  | { readonly writer: "content"; readonly items: readonly ContentRow[] };

/** What a writer says of each item: its trace, its time. */
export type Written = readonly (string | number | undefined)[];

export type ToWorker =
  | { readonly kind: "request"; readonly job: number; readonly request: LargeRequest }
  /** The next piece may come. */
  | { readonly kind: "taken"; readonly piece: number }
  | { readonly kind: "written"; readonly piece: number; readonly written: Written }
  | { readonly kind: "failed"; readonly piece: number };

export interface RefusedRequest {
  readonly code: ErrorCode;
  readonly message: string;
  readonly issues: readonly Issue[];
  readonly retryAfterSeconds: number | undefined;
}

export type FromWorker =
  | { readonly kind: "write"; readonly job: number; readonly piece: number; readonly of: Items }
  | { readonly kind: "answered"; readonly job: number; readonly answer: LargeBodyResponse }
  | { readonly kind: "refused"; readonly job: number; readonly refused: RefusedRequest }
  /** A bug of ours, or what a writer said. */
  | { readonly kind: "broken"; readonly job: number; readonly error: unknown };
