import type { Attributes } from "./attributes.ts";

/** A span as it was sent. */
export interface OtelSpan {
  /** Lower-case hex; '' when it was not sent. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  /** 0 when it was not sent. */
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

/** What a span was sent under. */
export interface SpanOrigin {
  readonly resource: Attributes;
  /** The resource as it is stored. */
  readonly nestedResource: object;
  readonly scopeName: string;
  readonly scopeVersion: string;
}

/** A span that is decoded when it is asked for, so that one that cannot be takes no other with it. */
export interface SentSpan {
  readonly origin: SpanOrigin;
  /** The span, or why it cannot be read. */
  readonly decode: () => OtelSpan | string;
}
