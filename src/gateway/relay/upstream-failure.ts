import { AppError, type ErrorCode } from "../../shared/errors.ts";
import type { FailureKind, UpstreamFailure } from "./upstream.ts";

interface FailureRow {
  readonly code: ErrorCode;
  readonly message: string;
  /** The upstream may have accepted the request: a repetition could do the work, and bill it, twice. */
  readonly mayHaveBeenTaken: boolean;
}

const rows = {
  unreachable: {
    code: "upstream_unreachable",
    message: "The upstream cannot be reached.",
    mayHaveBeenTaken: false,
  },
  connect_timeout: {
    code: "upstream_timeout",
    message: "The upstream did not take the connection in time.",
    mayHaveBeenTaken: false,
  },
  timeout: {
    code: "upstream_timeout",
    message: "The upstream was silent for too long.",
    mayHaveBeenTaken: true,
  },
  broken: {
    code: "upstream_broken",
    message: "The upstream ended the connection before its response was complete.",
    mayHaveBeenTaken: true,
  },
  invalid: {
    code: "upstream_invalid",
    message: "The upstream's response is not valid HTTP.",
    mayHaveBeenTaken: true,
  },
  redirected: {
    code: "upstream_invalid",
    message: "The upstream redirects the request to itself.",
    mayHaveBeenTaken: false,
  },
} as const satisfies Record<FailureKind, FailureRow>;

export function rowOf(failure: UpstreamFailure): FailureRow {
  return rows[failure.kind];
}

/** The error to respond with. A body that ended too early is the client's error, not the upstream's. */
export function errorOf({ kind, cause }: UpstreamFailure): AppError {
  return cause instanceof AppError ? cause : new AppError(rows[kind].code, rows[kind].message, { cause });
}

/** A client that follows the upstream's redirect would come back here. `upgrade`: the base URL that it redirects to. */
export function redirectLoop(variable: string, upgrade: string | undefined): UpstreamFailure {
  const { code, message } = rows.redirected;
  const advice = upgrade === undefined ? `See ${variable}.` : `Set ${variable} to ${upgrade}.`;
  return { kind: "redirected", cause: new AppError(code, `${message} ${advice}`) };
}

/** The upstream ended a stream cleanly, but without its end marker. */
export function truncatedStream(): UpstreamFailure {
  return { kind: "broken", cause: new Error("the stream ended without its end marker") };
}
