import type { PriceBook } from "../prices/price-book.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import type { RollupManifest } from "./manifests.ts";
import { areBounds } from "./input-tier.ts";
import { planAggregation } from "./plan-aggregation.ts";
import { priceTable, type PriceTable } from "./price-table.ts";
import { sumAll } from "./sum-records.ts";

const ANY_TIME = { startUs: -Infinity, endUs: Infinity };

/** Builds the price table of the records of manifests. `unable`: too many prices; `changed`: an hour was materialized meanwhile. */
export async function readPriceTable(
  engine: Engine,
  {
    project,
    manifests,
    book,
  }: { readonly project: Project; readonly manifests: readonly RollupManifest[]; readonly book: PriceBook },
  signal: AbortSignal,
): Promise<PriceTable | "changed" | "unable"> {
  const requested = {
    selection: { project },
    window: ANY_TIME,
    buckets: { startsUs: [] },
    query: { fields: [], condition: undefined, latencies: "none" },
    book,
  } as const;
  const plans = planAggregation(requested, manifests);
  if (plans === undefined) return "unable";
  const sums = await sumAll(engine, plans, signal);
  if (sums === "changed") return "changed";
  const [plan = { intervalStartsUs: [0], prices: { instantsUs: [], inputs: [], maxInput: 0 } }] = plans;
  const table = priceTable(sums, plan, book);
  if (table === undefined) return "unable";
  const suitsTraceSums = plans.every(({ by15Minutes }) => by15Minutes) && areBounds(plan.prices.inputs);
  return { ...table, suitsTraceSums };
}
