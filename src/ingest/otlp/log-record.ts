import type { Attributes } from "./attributes.ts";

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
