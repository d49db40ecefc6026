import { CALL_FIELDS, type CallField } from "../../ledger/entries.ts";
import { compileFilter, type CallsFilter } from "../../query/index.ts";
import { join, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Dimensions } from "../dimensions.ts";
import type { LatencyQuestion } from "../latency.ts";

/** What is asked of the entries of the ledger. */
export interface LedgerQuestion {
  /** The columns of `usage_hours` that a key or a condition reads. */
  readonly columns: readonly (CallField | "is_root")[];
  /** Those that the next one reads. */
  readonly keyColumns: readonly CallField[];
  /** Of an entry, the same text as `Dimensions.callKey` has of its call. */
  readonly callKey: Sql | undefined;
  /** Whether an entry's call is selected; undefined: all are. */
  readonly condition: Sql | undefined;
  readonly latency: LatencyQuestion | undefined;
  /** Quarters of an hour tell as much. */
  readonly isCoarse: boolean;
}

/** The members of a filter that entries can tell. */
const FILTERS: Readonly<Record<string, CallField | "is_root">> = {
  op_names: "op_name",
  thread_ids: "thread_id",
  turn_ids: "turn_id",
  svc_user_ids: "svc_user_id",
  svc_run_ids: "svc_run_id",
  trace_roots_only: "is_root",
};

/** Undefined if the ledger does not have what is asked. */
export function ledgerQuestion(asked: {
  readonly filter: CallsFilter | null | undefined;
  readonly query: unknown;
  readonly dimensions: Dimensions;
  readonly latency: LatencyQuestion | undefined;
}): LedgerQuestion | undefined {
  const { filter, query, dimensions, latency } = asked;
  const members = Object.entries(filter ?? {}).filter(([, value]) => value != null && value !== false);
  if (query != null || members.some(([name]) => !Object.hasOwn(FILTERS, name))) return undefined;
  const fields = dimensions.all.flatMap(({ source, field }) => (source === "call" ? [field] : []));
  if (!fields.every(isCallField)) return undefined;
  const texts = fields.map((field) => {
    const column = trusted(field);
    return sql`if(${column} = '', '', toJSONString(${column}))`;
  });
  const callKey = texts.length === 0 ? undefined : sql`concat(${join(texts, ", '\\n', ")}, '')`;
  const condition = members.length === 0 ? undefined : compileFilter(filter);
  const isCoarse = callKey === undefined && condition === undefined && latency === undefined;
  const columns = [...new Set([...fields, ...members.map(([name]) => FILTERS[name]!)])];
  return { columns, keyColumns: fields, callKey, condition, latency, isCoarse };
}

function isCallField(field: string): field is CallField {
  return (CALL_FIELDS as readonly string[]).includes(field);
}
