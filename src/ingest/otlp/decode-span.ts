import { readAttributes } from "./attributes.ts";
import type { Encoded } from "./encoded.ts";
import { hex } from "./hex.ts";
import { SpanSchema } from "./otlp_pb.ts";
import type { OtelSpan } from "./span.ts";

export function decodeSpan(encoded: Encoded): OtelSpan | string {
  const span = encoded.decode(SpanSchema);
  if (typeof span === "string") return span;
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
