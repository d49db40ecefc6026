import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { sql } from "../../query/sql.ts";

/** Storage key and start of a call. */
export interface CallRowKey {
  readonly hour: number;
  readonly traceId: string;
  readonly id: string;
  readonly startedAtUs: number;
}

/** Columns of `readKeys`, as SQL. */
export const KEY_COLUMNS = sql`trace_id, id, toInt64(hour), toUnixTimestamp64Micro(assumeNotNull(started_at))`;

export function* readKeys(bytes: Buffer): Generator<CallRowKey, undefined> {
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    const [traceId, id] = [reader.string(), reader.string()];
    yield { traceId, id, hour: reader.int64(), startedAtUs: reader.int64() };
  }
}

/** Counts up to `limit` + 1. */
export function hasMoreThan(limit: number, bytes: Buffer): boolean {
  const reader = new RowBinaryReader(bytes);
  let count = 0;
  for (; !reader.done && count <= limit; count++) {
    reader.skipString();
    reader.skipString();
    reader.int64();
    reader.int64();
  }
  return count > limit;
}
