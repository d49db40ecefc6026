import { fromBinary } from "@bufbuild/protobuf";
import { AppError } from "../../shared/errors.ts";
import { readAttributes } from "./attributes.ts";
import { fromMessage, MAX_SPAN_ITEMS, TOO_LARGE, UNREADABLE } from "./decode-span.ts";
import { MAX_REQUEST_ITEMS, tooManyItems } from "./limits.ts";
import { unflatten } from "./unflatten.ts";
import { countItems } from "./measure.ts";
import { ExportTraceServiceRequestSchema, SpanSchema, type ExportTraceServiceRequest } from "./otlp_pb.ts";
import type { OtelSpan, SentSpan } from "./span.ts";

const options = { readUnknownFields: false };

/** Reads the spans of an OTLP/protobuf request. Errors: bad_request, if it is malformed; payload_too_large. */
export function spansOfProtobuf(body: Uint8Array): readonly SentSpan[] {
  return decodeRequest(body).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const attributes = readAttributes(resource?.attributes ?? []);
    const nestedResource = unflatten(attributes);
    return scopeSpans.flatMap(({ scope, spans }) => {
      const origin = {
        resource: attributes,
        nestedResource,
        scopeName: scope?.name ?? "",
        scopeVersion: scope?.version ?? "",
      };
      return spans.map((bytes): SentSpan => ({ origin, decode: () => decodeSpan(bytes) }));
    });
  });
}

function decodeRequest(body: Uint8Array): ExportTraceServiceRequest {
  try {
    const count = countItems(ExportTraceServiceRequestSchema, body, MAX_REQUEST_ITEMS + 1);
    if (count <= MAX_REQUEST_ITEMS) return fromBinary(ExportTraceServiceRequestSchema, body, options);
  } catch (cause) {
    throw new AppError("bad_request", "The body is not an encoded ExportTraceServiceRequest.", { cause });
  }
  throw tooManyItems();
}

function decodeSpan(bytes: Uint8Array): OtelSpan | string {
  try {
    if (countItems(SpanSchema, bytes, MAX_SPAN_ITEMS + 1) > MAX_SPAN_ITEMS) return TOO_LARGE;
    return fromMessage(fromBinary(SpanSchema, bytes, options));
  } catch {
    return UNREADABLE;
  }
}
