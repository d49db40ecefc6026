import { pairKey } from "../../shared/pair-key.ts";
import type { CallRow } from "../storage-key/key-lookup.ts";

/** Merges the rows of each call, in order, as ClickHouse would: the last value of each column. */
export function mergeRows(rows: readonly CallRow[]): readonly CallRow[] {
  const merged = new Map<string, CallRow>();
  for (const row of rows) {
    const key = `${row.hour} ${pairKey(pairKey(row.project_id, row.trace_id), row.id)}`;
    const before = merged.get(key);
    merged.set(key, before === undefined ? row : { ...before, ...row });
  }
  return [...merged.values()];
}
