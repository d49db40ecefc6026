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

/** The resource and scope of a span. */
export interface SpanOrigin {
  readonly resource: Attributes;
  /** The resource as stored. */
  readonly nestedResource: object;
  readonly scopeName: string;
  readonly scopeVersion: string;
}

/** A span decoded on demand, so that a malformed one does not reject the others. */
export interface SentSpan {
  readonly origin: SpanOrigin;
  /** Returns the span, or the reason why it is rejected. */
  readonly decode: () => OtelSpan | string;
}
