import { AppError, type ErrorCode } from "../../shared/errors.ts";

export type FailureKind = "unreachable" | "connect_timeout" | "timeout" | "broken" | "invalid";

interface FailureRow {
  readonly code: ErrorCode;
  readonly message: string;
  /** The upstream may have accepted the request: a retry could repeat and bill the work. */
  readonly mayHaveBeenProcessed: boolean;
}

const rows: Readonly<Record<FailureKind, FailureRow>> = {
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
};

/** Failure of an exchange with an upstream. */
export class UpstreamError extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, cause: Error) {
    super(rows[kind].message, { cause });
    this.kind = kind;
  }

  get mayHaveBeenProcessed(): boolean {
    return rows[this.kind].mayHaveBeenProcessed;
  }

  /** The error for the client. A truncated request body is the client's own, not the upstream's. */
  get shown(): AppError {
    const { cause, kind, message } = this;
    return cause instanceof AppError ? cause : new AppError(rows[kind].code, message, { cause: this });
  }
}

/** Returns the failure of a stream closed cleanly, but without its end. */
export function truncatedStream(): UpstreamError {
  return new UpstreamError("broken", new Error("the stream ended without its end marker"));
}
