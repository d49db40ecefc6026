import { inTurns } from "../fairness/turns.ts";
import { eachItem } from "../shared/steps.ts";
import type { Engine } from "../store/engine.ts";
import type { UsageAggregate } from "../usage-rollup/aggregate.ts";
import { readOwnUsage } from "../usage-rollup/read-own-usage.ts";
import type { PriceBook } from "../prices/price-book.ts";
import type { CallsPlan } from "../trace-usage/plan.ts";
import { LlmDictionary } from "../trace-usage/table/llm-dictionary.ts";
import type { StatsPlan } from "./plan/plan-stats.ts";
import { WindowFold, type FoldOptions } from "./sums/window-fold.ts";
import { foldCalls, type WindowLimits } from "./read/read-window.ts";

/**
 * Sums all calls of a window: from the usage rollup as far as it is valid, the rest at query time. Errors: `StorageError`;
 * too_many_calls.
 */
export async function sumWindow(
  engine: Engine,
  requested: Pick<FoldOptions, "plan" | "book" | "providerOf" | "maxAggregates">,
  limits: WindowLimits,
): Promise<WindowFold> {
  const names = new LlmDictionary();
  const fold = new WindowFold({ ...requested, names });
  const { aggregates: cells, live } = await readWindow(engine, requested.plan, requested.book, limits);
  await inTurns(eachItem(cells, (aggregate) => fold.addAggregate(aggregate)));
  await foldCalls(engine, { plan: requested.plan, names, fold }, live, limits);
  return fold;
}

interface WindowRead {
  readonly aggregates: Iterable<UsageAggregate>;
  /** Calls missing from the aggregates. */
  readonly live: CallsPlan;
}

async function readWindow(
  engine: Engine,
  { rollupQuery, ...plan }: StatsPlan,
  book: PriceBook | undefined,
  { signal }: WindowLimits,
): Promise<WindowRead> {
  const { selection } = plan;
  if (rollupQuery === undefined || plan.buckets.startsUs.length === 0)
    return { aggregates: [], live: selection };
  const { aggregates, uncoveredTraces: traces } = await readOwnUsage(
    engine,
    { ...plan, query: rollupQuery, book },
    signal,
  );
  return { aggregates, live: { ...selection, strategy: { kind: "known traces", traces } } };
}
