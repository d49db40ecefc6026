/** Every way a request can fail. `src/http/errors.ts` is the only place that maps a code to a status. */
export type ErrorCode =
  | "bad_request"
  | "unauthenticated"
  | "budget_exceeded"
  | "unknown_price"
  | "forbidden"
  | "project_required"
  | "unmetered_endpoint"
  | "not_found"
  | "method_not_allowed"
  | "client_stalled"
  | "already_running"
  | "payload_too_large"
  | "unsupported_media_type"
  | "upgrade_required"
  | "validation"
  | "too_many_requests"
  | "budget_held"
  | "concurrency_limit"
  | "too_many_calls"
  | "service_overloaded"
  | "store_unavailable"
  | "store_overloaded"
  | "query_timeout"
  | "query_memory"
  | "storage_full"
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

/** More would make a large response of a small request. */
export const MAX_ISSUES = 100;

function firstOf(issues: readonly Issue[]): readonly Issue[] {
  if (issues.length <= MAX_ISSUES) return issues;
  const first = issues.slice(0, MAX_ISSUES - 1);
  const loc = first[0]!.loc.slice(0, 1);
  return [...first, { loc, msg: `${issues.length - first.length} more issues`, type: "too_many_issues" }];
}

/** An error whose message the caller may see. Any other error becomes a 500 that contains only the request id. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Only for code "validation": those found first, and how many more there are. */
  readonly issues: readonly Issue[];
  readonly retryAfterSeconds: number | undefined;
  /** Members of the error object under `/v1`, for programs. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      issues?: readonly Issue[];
      retryAfterSeconds?: number;
      facts?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.issues = firstOf(options.issues ?? []);
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.facts = options.facts ?? {};
  }
}

/** A request that does not validate: 422 with its issues. */
export function invalid(issues: readonly Issue[]): AppError {
  return new AppError("validation", "The request does not validate", { issues });
}
