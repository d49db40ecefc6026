import type { TimeWindow } from "../buckets/buckets.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { compileFilter } from "../query/filter.ts";
import type { CallsFilter } from "../query/read/wire-schema.ts";
import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { CALL_FIELDS, type CallField } from "./usage-record.ts";

export interface OwnUsageQuery {
  readonly project: Project;
  readonly window: TimeWindow;
  /** Starts of the buckets. */
  readonly startsUs: readonly number[];
  readonly query: RollupQuery;
  /** `undefined` if `include_costs` is false. */
  readonly book: PriceBook | undefined;
}

/** Query over usage records. */
export interface RollupQuery {
  /** `group_by` fields. */
  readonly fields: readonly CallField[];
  /** SQL filter over the columns of `calls`; `undefined` selects all records. */
  readonly condition: Sql | undefined;
  /** True if the condition reads other tables. */
  readonly readsCalls?: boolean;
  /** `each`: every latency, for percentiles; `sums`: only `LatencySums`. */
  readonly latencies: "none" | "sums" | "each";
}

/** Filter members that usage records support. */
const FILTERS: ReadonlySet<string> = new Set([
  "op_names",
  "thread_ids",
  "turn_ids",
  "svc_user_ids",
  "svc_run_ids",
  "trace_roots_only",
]);

/** Translates a query over calls. `undefined` if usage records lack a filtered or grouped field. */
export function rollupQueryOf(requested: {
  readonly filter: CallsFilter | null | undefined;
  readonly query: unknown;
  readonly fields: readonly string[];
  readonly latencies: RollupQuery["latencies"];
}): RollupQuery | undefined {
  const { filter, query, fields, latencies } = requested;
  const members = Object.entries(filter ?? {}).filter(([, value]) => value != null && value !== false);
  if (query != null || members.some(([name]) => !FILTERS.has(name))) return undefined;
  // a record stores '' for an absent value
  if (members.some(([, value]) => Array.isArray(value) && value.includes(""))) return undefined;
  if (!fields.every(isCallField)) return undefined;
  return { fields, condition: members.length === 0 ? undefined : compileFilter(filter), latencies };
}

function isCallField(field: string): field is CallField {
  return (CALL_FIELDS as readonly string[]).includes(field);
}
