import type { Buckets, TimeWindow } from "../buckets/buckets.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { compileFilter, type CallsFilter } from "../query/index.ts";
import type { Sql } from "../query/sql.ts";
import type { CallsPlan } from "../trace-usage/plan.ts";
import { CALL_FIELDS, type CallField } from "./usage-record.ts";

export interface OwnUsageQuery {
  /** Of calls that started in the window. */
  readonly selection: CallsPlan;
  readonly window: TimeWindow;
  readonly buckets: Pick<Buckets, "startsUs">;
  readonly query: RollupQuery;
  /** Undefined: costs are not asked for. */
  readonly book: PriceBook | undefined;
}

/** What is asked of entries. */
export interface RollupQuery {
  /** What tells groups apart. */
  readonly fields: readonly CallField[];
  /** Whether an entry's call is selected, over the columns of `calls`; undefined: all are. */
  readonly condition: Sql | undefined;
  /** Whether each of the latencies is asked for, or only what can be added up of them. */
  readonly latencies: "none" | "sums" | "each";
}

/** The members of a filter that records can tell. */
const FILTERS: ReadonlySet<string> = new Set([
  "op_names",
  "thread_ids",
  "turn_ids",
  "svc_user_ids",
  "svc_run_ids",
  "trace_roots_only",
]);

/** Undefined if the ledger does not have what is asked. `fields`: of calls. */
export function rollupQueryOf(requested: {
  readonly filter: CallsFilter | null | undefined;
  readonly query: unknown;
  readonly fields: readonly string[];
  readonly latencies: RollupQuery["latencies"];
}): RollupQuery | undefined {
  const { filter, query, fields, latencies } = requested;
  const members = Object.entries(filter ?? {}).filter(([, value]) => value != null && value !== false);
  if (query != null || members.some(([name]) => !FILTERS.has(name))) return undefined;
  // an entry has '' for what is absent
  if (members.some(([, value]) => Array.isArray(value) && value.includes(""))) return undefined;
  if (!fields.every(isCallField)) return undefined;
  return { fields, condition: members.length === 0 ? undefined : compileFilter(filter), latencies };
}

function isCallField(field: string): field is CallField {
  return (CALL_FIELDS as readonly string[]).includes(field);
}
