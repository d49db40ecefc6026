import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { ExportRequestSchema, ExportResponseSchema, SpanSchema } from "../../src/ingest/otlp/otlp_pb.ts";

export type SpanInit = MessageInitShape<typeof SpanSchema>;

export const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

/** A valid span of one trace; its number is in its id. */
export function spanInit(number: number, more: SpanInit = {}): SpanInit {
  return {
    traceId: Buffer.from(TRACE_ID, "hex"),
    spanId: Buffer.from(spanId(number), "hex"),
    name: "chat",
    startTimeUnixNano: 1_767_225_600_000_000_000n,
    endTimeUnixNano: 1_767_225_601_000_000_000n,
    attributes: [intAttribute("gen_ai.usage.input_tokens", 10n), textAttribute("gen_ai.response.model", "m")],
    ...more,
  };
}

export function spanId(number: number): string {
  return (number + 1).toString(16).padStart(16, "0");
}

export function textAttribute(key: string, text: string) {
  return { key, value: { value: { case: "stringValue" as const, value: text } } };
}

export function intAttribute(key: string, value: bigint) {
  return { key, value: { value: { case: "intValue" as const, value } } };
}

export interface Batch {
  readonly spans: readonly SpanInit[];
  readonly resource?: Readonly<Record<string, string>>;
}

export function encodeRequest(...batches: readonly Batch[]): Buffer {
  const resources = batches.map(({ spans, resource = { "sumtree.project": "acme/otlp" } }) => ({
    resource: { attributes: Object.entries(resource).map(([key, text]) => textAttribute(key, text)) },
    scopes: [{ items: spans.map((span) => toBinary(SpanSchema, create(SpanSchema, span))) }],
  }));
  const request = create(ExportRequestSchema, { resources });
  return Buffer.from(toBinary(ExportRequestSchema, request));
}

/** `partial_success` of an answer; undefined on full success. */
export function partialSuccess(response: Buffer): { rejected: number; message: string } | undefined {
  const { partialSuccess: partial } = fromBinary(ExportResponseSchema, response);
  return partial === undefined
    ? undefined
    : { rejected: Number(partial.rejected), message: partial.errorMessage };
}
