import type { PriceBook } from "../prices/price-book.ts";
import { sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import type { RollupManifest } from "./manifests.ts";
import { type PricedSum, pricedSums } from "./priced-sums.ts";
import { areBounds } from "./input-tier.ts";
import { planAggregation } from "./plan-aggregation.ts";
import { priceTable, type PriceTable } from "./price-table.ts";
import { sumAll } from "./sum-records.ts";

const ANY_TIME = { startUs: -Infinity, endUs: Infinity };

interface Records {
  readonly project: Project;
  readonly manifests: readonly RollupManifest[];
  readonly book: PriceBook;
}

/** Sums the records of manifests, or those that meet a condition, at any time. */
async function sumsOf(
  engine: Engine,
  { project, manifests, book }: Records,
  signal: AbortSignal,
  condition?: Sql,
) {
  const query = { fields: [], condition, latencies: "none", readsCalls: condition !== undefined } as const;
  const requested = { project, window: ANY_TIME, startsUs: [], query, book };
  const plans = planAggregation(requested, manifests);
  if (plans === undefined) return "unable";
  const sums = await sumAll(engine, plans, signal);
  return sums === "changed" ? sums : { plans, sums };
}

/** Builds the price table of the records of manifests. `unable`: too many prices; `changed`: an hour was materialized meanwhile. */
export async function readPriceTable(
  engine: Engine,
  records: Records,
  signal: AbortSignal,
): Promise<PriceTable | "changed" | "unable"> {
  const found = await sumsOf(engine, records, signal);
  if (typeof found === "string") return found;
  const { plans, sums } = found;
  const [plan = { intervalStartsUs: [0], prices: { instantsUs: [], inputs: [], maxInput: 0 } }] = plans;
  const table = priceTable(sums, plan, records.book);
  if (table === undefined) return "unable";
  const suitsTraceSums = plans.every(({ by15Minutes }) => by15Minutes) && areBounds(plan.prices.inputs);
  return { ...table, suitsTraceSums };
}

/** Sums the usage of some traces, by price. `traces`: a subquery of their ids. Results as of `readPriceTable`. */
export async function readUsageOfTraces(
  engine: Engine,
  records: Records,
  traces: Sql,
  signal: AbortSignal,
): Promise<Iterable<PricedSum> | "changed" | "unable"> {
  const found = await sumsOf(engine, records, signal, sql`trace_id IN ${traces}`);
  return typeof found === "string" ? found : pricedSums(found.sums, { window: ANY_TIME, book: records.book });
}
