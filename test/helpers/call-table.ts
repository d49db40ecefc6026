import { INCLUSIVE } from "../../src/calls/message-columns.ts";
import { REPORTERS } from "../../src/calls/completion.ts";
import { encodeUsage } from "../../src/usage/usage-column.ts";
import type { CallTable } from "../../src/rollup/table/call-table.ts";
import { END_DIGITS } from "../../src/rollup/fold/shared-completions.ts";
import type { LlmNames } from "../../src/rollup/table/llm-names.ts";
import { readCallTable } from "../../src/rollup/table/read-call-table.ts";
import type { CallRow } from "./forests.ts";
import { nativeBlock } from "./native-bytes.ts";

/** The table that the engine's rows for these calls give, when they come in two blocks. */
export function tableOf(rows: readonly CallRow[], names: LlmNames): CallTable {
  const middle = rows.length >> 1;
  const blocks = [rows.slice(0, middle), rows.slice(middle)].filter((some) => some.length > 0);
  const bytes = Buffer.concat(blocks.map(blockOf));
  return readCallTable(bytes, [{ traceId: "t", callCount: rows.length, hours: [0], ids: undefined }], names);
}

function blockOf(rows: readonly CallRow[]): Buffer {
  const flagsOf = ({ finished, selected, inclusive, reportedBy }: CallRow): number =>
    Number(finished) +
    2 * Number(selected) +
    4 * INCLUSIVE.indexOf(inclusive) +
    16 * REPORTERS.indexOf(reportedBy ?? "client");
  const reportedOf = ({ completionId, finished, endedAtMs, startedAtMs }: CallRow): string => {
    const end = finished ? (endedAtMs ?? startedAtMs) * 1000 : 0;
    return completionId === undefined ? "" : `${String(end).padStart(END_DIGITS, "0")}${completionId}`;
  };
  return nativeBlock([
    { type: "String", values: rows.map(({ id }) => id) },
    { type: "Nullable(String)", values: rows.map(({ parentId }) => parentId) },
    { type: "String", values: rows.map(reportedOf) },
    { type: "UInt8", values: rows.map(flagsOf) },
    { type: "Int64", values: rows.map(({ startedAtMs }) => BigInt(startedAtMs) * 1000n) },
    { type: "Nullable(String)", values: rows.map(({ usage }) => encodeUsage(usage)) },
  ]);
}
