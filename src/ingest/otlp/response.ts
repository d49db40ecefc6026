import { create, toBinary, toJson } from "@bufbuild/protobuf";
import { ExportTraceServiceResponseSchema } from "./otlp_pb.ts";

/** Maximum reasons in a response. */
const MAX_REASONS = 5;

/** Rejected span counts by reason. */
export type Rejections = ReadonlyMap<string, number>;

/** Builds OTLP's response, empty if all spans are stored. Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response */
export function exportResponse(rejections: Rejections, encoding: "protobuf" | "json"): Buffer | object {
  const rejected = [...rejections.values()].reduce((sum, count) => sum + count, 0);
  const response = create(
    ExportTraceServiceResponseSchema,
    rejected === 0
      ? {}
      : { partialSuccess: { rejectedSpans: BigInt(rejected), errorMessage: reasonText(rejections) } },
  );
  return encoding === "protobuf"
    ? Buffer.from(toBinary(ExportTraceServiceResponseSchema, response))
    : (toJson(ExportTraceServiceResponseSchema, response) as object);
}

function reasonText(rejections: Rejections): string {
  return [...rejections]
    .slice(0, MAX_REASONS)
    .map(([reason, count]) => `${count}: ${reason}`)
    .join("; ");
}
