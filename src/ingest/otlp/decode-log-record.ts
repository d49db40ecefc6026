import { plainValue, readAttributes } from "./attributes.ts";
import type { Encoded } from "./encoded.ts";
import { hex } from "./hex.ts";
import type { OtelLogRecord } from "./log-record.ts";
import { LogRecordSchema } from "./otlp_pb.ts";

export function decodeLogRecord(encoded: Encoded): OtelLogRecord | string {
  const record = encoded.decode(LogRecordSchema);
  if (typeof record === "string") return record;
  return {
    atNanos: record.timeUnixNano,
    observedAtNanos: record.observedTimeUnixNano,
    eventName: record.eventName,
    body: plainValue(record.body),
    attributes: readAttributes(record.attributes),
    traceId: hex(record.traceId),
    spanId: hex(record.spanId),
  };
}
