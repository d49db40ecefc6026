import type { Attributes } from "./attributes.ts";

/** A span as sent. */
export interface OtelSpan {
  /** Lower-case hex; '' if not sent. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  /** 0 if not sent. */
  readonly startedAtNanos: bigint;
  readonly endedAtNanos: bigint;
  readonly attributes: Attributes;
  readonly events: readonly OtelEvent[];
  readonly links: readonly OtelLink[];
  readonly status: { readonly code: number; readonly message: string };
}

export interface OtelEvent {
  readonly name: string;
  readonly atNanos: bigint;
  readonly attributes: Attributes;
}

interface OtelLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Attributes;
}

/** The resource and scope of a span, log record or metric. */
export interface SpanOrigin {
  readonly resource: Attributes;
  /** The resource as stored. */
  readonly nestedResource: object;
  readonly scopeName: string;
  readonly scopeVersion: string;
}
