import { readAttributes } from "./attributes.ts";
import type { Span } from "./otlp_pb.ts";
import type { OtelSpan } from "./span.ts";

/** Limit of attributes, events, links and nested values of one span. */
export const MAX_SPAN_ITEMS = 50_000;
export const TOO_LARGE = `a span has more than ${MAX_SPAN_ITEMS} attributes, events and nested values`;
export const UNREADABLE = "a span cannot be decoded";

export function fromMessage(span: Span): OtelSpan {
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    name: span.name,
    kind: span.kind,
    startedAtNanos: span.startTimeUnixNano,
    endedAtNanos: span.endTimeUnixNano,
    attributes: readAttributes(span.attributes),
    events: span.events.map((event) => ({
      name: event.name,
      atNanos: event.timeUnixNano,
      attributes: readAttributes(event.attributes),
    })),
    links: span.links.map((link) => ({
      traceId: hex(link.traceId),
      spanId: hex(link.spanId),
      attributes: readAttributes(link.attributes),
    })),
    status: { code: span.status?.code ?? 0, message: span.status?.message ?? "" },
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
