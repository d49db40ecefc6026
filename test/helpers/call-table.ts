import { INCLUSIVE } from "../../src/calls/events/message-columns.ts";
import { atOnce } from "../../src/shared/steps.ts";
import { USAGE_SOURCES } from "../../src/calls/events/completion.ts";
import { encodeUsage } from "../../src/usage/usage-column.ts";
import type { CallTable } from "../../src/trace-usage/table/call-table.ts";
import type { LlmDictionary } from "../../src/trace-usage/table/llm-dictionary.ts";
import { callTableSteps } from "../../src/trace-usage/table/read-call-table.ts";
import type { CallRow } from "../models/forests.ts";
import { nativeBlock } from "./native-bytes.ts";

/** The table that the engine's rows for these calls give, when they come in two blocks. */
export function tableOf(rows: readonly CallRow[], names: LlmDictionary): CallTable {
  const middle = rows.length >> 1;
  const blocks = [rows.slice(0, middle), rows.slice(middle)].filter((some) => some.length > 0);
  const bytes = Buffer.concat(blocks.map(blockOf));
  return atOnce(callTableSteps(bytes, [{ traceId: "t", ids: undefined }], names));
}

function blockOf(rows: readonly CallRow[]): Buffer {
  const endOf = ({ finished, endedAtMs, startedAtMs }: CallRow): bigint | null =>
    finished ? BigInt(endedAtMs ?? startedAtMs) * 1000n : null;
  return nativeBlock([
    { type: "String", values: rows.map(({ id }) => id) },
    { type: "Nullable(String)", values: rows.map(({ parentId }) => parentId) },
    { type: "Nullable(String)", values: rows.map(({ completionId }) => completionId ?? null) },
    { type: "Nullable(Int64)", values: rows.map(endOf) },
    { type: "Nullable(UInt8)", values: rows.map(({ inclusive }) => INCLUSIVE.indexOf(inclusive) || null) },
    {
      type: "Nullable(UInt8)",
      values: rows.map(({ usageSource }) => USAGE_SOURCES.indexOf(usageSource ?? "client") || null),
    },
    { type: "UInt8", values: rows.map(({ selected }) => Number(selected)) },
    { type: "Int64", values: rows.map(({ startedAtMs }) => BigInt(startedAtMs) * 1000n) },
    { type: "Nullable(String)", values: rows.map(({ usage }) => encodeUsage(usage)) },
  ]);
}
