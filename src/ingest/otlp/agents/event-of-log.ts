import type { CallEvent } from "../../../calls/events/call-event.ts";
import type { Project } from "../../../shared/project.ts";
import type { OtelLogRecord } from "../log-record.ts";
import type { SpanOrigin } from "../span.ts";

/** Sender and settings that a record is read with. */
export interface LogSender {
  readonly project: Project;
  /** Id of the API key. */
  readonly apiKey: string;
  /** True to keep prompts, tool arguments and outputs. */
  readonly keepsContent: boolean;
}

/**
 * Converts a log record of a known coding agent to a call event; `undefined` if it is ignored. Returns the reason, as text, if
 * it is rejected.
 */
export function eventOfLog(
  _record: OtelLogRecord,
  _origin: SpanOrigin,
  _sender: LogSender,
): CallEvent | string | undefined {
  return undefined;
}
