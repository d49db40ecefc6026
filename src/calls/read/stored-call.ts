import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { columns, computedColumns } from "../../query/fields/columns.ts";
import { join, sql, type Sql } from "../../query/sql.ts";

export const PAYLOADS = ["inputs", "output", "attributes", "summary"] as const;
export type Payload = (typeof PAYLOADS)[number];

/** Selects the payloads of the requested fields; all by default. */
export function payloadsOf(fields: readonly string[] | null | undefined): ReadonlySet<Payload> {
  if (fields == null) return new Set(PAYLOADS);
  const roots = new Set(fields.map((field) => field.split(".", 1)[0]));
  return new Set(PAYLOADS.filter((payload) => roots.has(payload)));
}

const NARROW = [
  "trace_id",
  "id",
  "parent_id",
  "op_name",
  "display_name",
  "thread_id",
  "turn_id",
  "svc_user_id",
  "svc_run_id",
  "svc_run_step",
  "exception",
  "started_at",
  "ended_at",
] as const;
/** Members of `summary.weave`. */
const COMPUTED = ["status", "latency_ms", "trace_name"] as const;

/** Stored call: each column as text, '' if absent. Instants are in ClickHouse's text form, payloads are JSON. */
export type StoredCall = Readonly<
  Record<(typeof NARROW)[number] | (typeof COMPUTED)[number] | Payload | "usage", string>
>;

/** Columns of `readStoredCalls`, as SQL; '' for payloads that are not requested. */
export function storedCallColumns(payloads: ReadonlySet<Payload>): Sql {
  const text = (value: Sql): Sql => sql`ifNull(toString(${value}), '')`;
  const ifRequested = (payload: Payload, value: Sql): Sql => (payloads.has(payload) ? text(value) : sql`''`);
  return join(
    [
      ...NARROW.map((name) => text(columns.get(name)!.sql)),
      ...COMPUTED.map((name) => ifRequested("summary", computedColumns.get(name)!.sql)),
      ...PAYLOADS.map((name) => ifRequested(name, columns.get(name)!.sql)),
      ifRequested("summary", sql`usage`),
    ],
    ", ",
  );
}

const ORDER = [...NARROW, ...COMPUTED, ...PAYLOADS, "usage"] as const;

/** Decodes calls in batches of up to `most`. */
export function* readStoredCalls(bytes: Buffer, most: number): Generator<readonly StoredCall[]> {
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    const calls: StoredCall[] = [];
    while (!reader.done && calls.length < most)
      calls.push(Object.fromEntries(ORDER.map((name) => [name, reader.string()])) as StoredCall);
    yield calls;
  }
}
