import type { Attributes } from "./attributes.ts";
import type { SpanOrigin } from "./span.ts";

/** A log record as sent. */
export interface OtelLogRecord {
  /** 0 if not sent. */
  readonly atNanos: bigint;
  readonly observedAtNanos: bigint;
  /** '' if not sent. */
  readonly eventName: string;
  /** As JSON; null if not sent. */
  readonly body: unknown;
  readonly attributes: Attributes;
  /** Lower-case hex; '' if not sent. */
  readonly traceId: string;
  readonly spanId: string;
}

/** A log record decoded on demand, so that a malformed one does not reject the others. */
export interface SentLogRecord {
  readonly origin: SpanOrigin;
  /** Returns the record, or the reason why it is rejected. */
  readonly decode: () => OtelLogRecord | string;
}
