import { AppError, type ErrorCode } from "../../shared/errors.ts";
import type { FailureKind, UpstreamFailure } from "./upstream.ts";

interface FailureRow {
  readonly code: ErrorCode;
  readonly message: string;
  /** The upstream may have accepted the request: a retry could repeat and bill the work. */
  readonly mayHaveBeenProcessed: boolean;
}

const rows = {
  unreachable: {
    code: "upstream_unreachable",
    message: "The upstream is unreachable.",
    mayHaveBeenProcessed: false,
  },
  connect_timeout: {
    code: "upstream_timeout",
    message: "The connection to the upstream timed out.",
    mayHaveBeenProcessed: false,
  },
  timeout: {
    code: "upstream_timeout",
    message: "The upstream sent nothing for too long.",
    mayHaveBeenProcessed: true,
  },
  broken: {
    code: "upstream_broken",
    message: "The upstream ended the connection before its response was complete.",
    mayHaveBeenProcessed: true,
  },
  invalid: {
    code: "upstream_invalid",
    message: "The upstream's response is not valid HTTP.",
    mayHaveBeenProcessed: true,
  },
} as const satisfies Record<FailureKind, FailureRow>;

export function rowOf(failure: UpstreamFailure): FailureRow {
  return rows[failure.kind];
}

/** Returns the error to send. A truncated request body is the client's error, not the upstream's. */
export function errorOf({ kind, cause }: UpstreamFailure): AppError {
  return cause instanceof AppError ? cause : new AppError(rows[kind].code, rows[kind].message, { cause });
}

/** Builds the failure of a stream closed cleanly, but without end marker. */
export function truncatedStream(): UpstreamFailure {
  return { kind: "broken", cause: new Error("the stream ended without its end marker") };
}
