import type { PriceBook } from "../prices/price-book.ts";
import { sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import type { RollupManifest } from "./manifests.ts";
import type { UsageAggregate } from "./aggregate.ts";
import { areBounds } from "./input-tier.ts";
import { planAggregation } from "./plan-aggregation.ts";
import { aggregatesOf } from "./price-sums.ts";
import { priceTable, type PriceTable } from "./price-table.ts";
import { sumAll } from "./sum-records.ts";

const ANY_TIME = { startUs: -Infinity, endUs: Infinity };

interface Records {
  readonly project: Project;
  readonly manifests: readonly RollupManifest[];
  readonly book: PriceBook;
}

function planOf({ project, book }: Records, condition?: Sql) {
  const query = { fields: [], condition, latencies: "none", readsCalls: condition !== undefined } as const;
  return { selection: { project }, window: ANY_TIME, buckets: { startsUs: [] }, query, book };
}

/** Builds the price table of the records of manifests. `unable`: too many prices; `changed`: an hour was materialized meanwhile. */
export async function readPriceTable(
  engine: Engine,
  records: Records,
  signal: AbortSignal,
): Promise<PriceTable | "changed" | "unable"> {
  const plans = planAggregation(planOf(records), records.manifests);
  if (plans === undefined) return "unable";
  const sums = await sumAll(engine, plans, signal);
  if (sums === "changed") return "changed";
  const [plan = { intervalStartsUs: [0], prices: { instantsUs: [], inputs: [], maxInput: 0 } }] = plans;
  const table = priceTable(sums, plan, records.book);
  if (table === undefined) return "unable";
  const suitsTraceSums = plans.every(({ by15Minutes }) => by15Minutes) && areBounds(plan.prices.inputs);
  return { ...table, suitsTraceSums };
}

/** Aggregates the usage of some traces, by price. `traces`: a subquery of their ids. Results as of `readPriceTable`. */
export async function readUsageOfTraces(
  engine: Engine,
  records: Records,
  traces: Sql,
  signal: AbortSignal,
): Promise<Iterable<UsageAggregate> | "changed" | "unable"> {
  const requested = planOf(records, sql`trace_id IN ${traces}`);
  const plans = planAggregation(requested, records.manifests);
  if (plans === undefined) return "unable";
  const sums = await sumAll(engine, plans, signal);
  return sums === "changed" ? sums : aggregatesOf(sums, requested);
}
