/** Every way a request can fail. `src/http/errors.ts` is the only place that maps a code to a status. */
export type ErrorCode =
  | "bad_request"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "client_stalled"
  | "already_running"
  | "payload_too_large"
  | "unsupported_media_type"
  | "validation"
  | "too_many_requests"
  | "concurrency_limit"
  | "too_many_calls"
  | "service_overloaded"
  | "store_unavailable"
  | "store_overloaded"
  | "query_timeout"
  | "query_memory"
  | "upstream_not_configured"
  | "upstream_unreachable"
  | "upstream_timeout"
  | "upstream_broken"
  | "upstream_invalid"
  | "internal";

/** One issue of a request. `loc` goes from the part of the request ("body", "query", "path") down to the issue. */
export interface Issue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** An error whose message the caller may see. Any other error becomes a 500 that contains only the request id. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** All issues found; only for code "validation". */
  readonly issues: readonly Issue[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; issues?: readonly Issue[]; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.issues = options.issues ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A request that does not validate: 422 with every issue. */
export function invalid(issues: readonly Issue[]): AppError {
  return new AppError("validation", "The request does not validate", { issues });
}
