import { create, toBinary } from "@bufbuild/protobuf";
import { ExportResponseSchema } from "./otlp_pb.ts";
import type { SignalNames } from "./signal-names.ts";

/** Maximum reasons in a response. */
const MAX_REASONS = 5;

/** Counts of rejected spans, log records or data points by reason. */
export type Rejections = ReadonlyMap<string, number>;

/** Builds OTLP's response, empty if nothing is rejected. Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response */
export function exportResponse(
  rejections: Rejections,
  names: SignalNames,
  encoding: "protobuf" | "json",
): Buffer | object {
  const rejected = [...rejections.values()].reduce((sum, count) => sum + count, 0);
  const errorMessage = reasonText(rejections);
  if (encoding === "json")
    return rejected === 0 ? {} : { partialSuccess: { [names.rejected]: String(rejected), errorMessage } };
  const partial = { partialSuccess: { rejected: BigInt(rejected), errorMessage } };
  const response = create(ExportResponseSchema, rejected === 0 ? {} : partial);
  return Buffer.from(toBinary(ExportResponseSchema, response));
}

function reasonText(rejections: Rejections): string {
  return [...rejections]
    .slice(0, MAX_REASONS)
    .map(([reason, count]) => `${count}: ${reason}`)
    .join("; ");
}
