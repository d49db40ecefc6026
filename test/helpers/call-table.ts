import { INCLUSIVE } from "../../src/calls/call-part.ts";
import { encodeUsage } from "../../src/calls/usage.ts";
import type { CallTable } from "../../src/trace-usage/call-table.ts";
import type { LlmNames } from "../../src/trace-usage/llm-names.ts";
import { readCallTable } from "../../src/trace-usage/read-call-table.ts";
import type { CallRow } from "./forests.ts";

/** The table that the engine's rows for these calls give. */
export function tableOf(rows: readonly CallRow[], names: LlmNames): CallTable {
  const bytes = Buffer.concat(
    rows.map((row) => {
      const flags = Number(row.finished) + 2 * Number(row.selected) + 4 * INCLUSIVE.indexOf(row.inclusive);
      const instant = Buffer.alloc(8);
      instant.writeBigInt64LE(BigInt(row.startedAtMs));
      const texts = ["", row.id, row.parentId].map(lengthPrefixed);
      return Buffer.concat([...texts, Buffer.from([flags]), instant, lengthPrefixed(encodeUsage(row.usage))]);
    }),
  );
  return readCallTable(bytes, [{ traceId: "t", callCount: rows.length, ids: undefined }], names);
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest >= 128; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}
