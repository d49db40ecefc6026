import { INCLUSIVE } from "../calls/call-part.ts";
import { decodeUsage } from "../calls/usage.ts";
import { RowBinaryReader } from "../clickhouse/row-binary.ts";
import type { CallRow } from "./call-row.ts";
import type { SelectedTrace } from "./selection.ts";

const FINISHED = 1;
const SELECTED = 2;
/** The bits above those two: the column `inclusive`. */
const INCLUSIVE_SHIFT = 2;

/** Decodes the rows of some traces and hands them out trace by trace, in the order of the traces given. */
export function readCallRows(
  bytes: Buffer,
  traces: readonly SelectedTrace[],
): readonly (readonly CallRow[])[] {
  const calls = new Map(traces.map((trace) => [trace.traceId, [] as CallRow[]]));
  const ids = new Map(traces.map((trace) => [trace.traceId, trace.ids]));
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    const row = readRow(reader, ids);
    calls.get(row.traceId)?.push(row);
  }
  return [...calls.values()];
}

function readRow(
  reader: RowBinaryReader,
  ids: ReadonlyMap<string, ReadonlySet<string> | undefined>,
): CallRow {
  const traceId = reader.string();
  const id = reader.string();
  const parentId = reader.string();
  const flags = reader.uint8();
  const startedAtMs = reader.int64();
  const usage = decodeUsage(reader.string());
  const chosen = ids.get(traceId);
  return {
    traceId,
    id,
    parentId,
    finished: (flags & FINISHED) !== 0,
    inclusive: INCLUSIVE[flags >> INCLUSIVE_SHIFT] ?? false,
    selected: chosen === undefined ? (flags & SELECTED) !== 0 : chosen.has(id),
    startedAtMs,
    usage,
  };
}
