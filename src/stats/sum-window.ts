import { inTurns } from "../shares/turns.ts";
import { eachItem } from "../shared/steps.ts";
import type { Engine } from "../store/engine.ts";
import type { UsageAggregate } from "../usage-rollup/aggregate.ts";
import { readOwnUsage } from "../usage-rollup/read-own-usage.ts";
import type { PriceBook } from "../prices/price-book.ts";
import type { CallsPlan } from "../rollup/plan.ts";
import { LlmNames } from "../rollup/table/llm-names.ts";
import type { StatsPlan } from "./plan/plan-stats.ts";
import { WindowFold, type FoldOptions } from "./sums/window-fold.ts";
import { foldCalls, type WindowLimits } from "./read/read-window.ts";

/**
 * Adds up all calls of a window: what the ledger has of it as it is there, the others live. Errors: `StorageError`;
 * too_many_calls.
 */
export async function sumWindow(
  engine: Engine,
  asked: Pick<FoldOptions, "plan" | "book" | "providerOf" | "maxCells">,
  limits: WindowLimits,
): Promise<WindowFold> {
  const names = new LlmNames();
  const fold = new WindowFold({ ...asked, names });
  const { cells, live } = await readWindow(engine, asked.plan, asked.book, limits);
  await inTurns(eachItem(cells, (cell) => fold.addCell(cell)));
  await foldCalls(engine, { plan: asked.plan, names, fold }, live, limits);
  return fold;
}

interface WindowRead {
  readonly cells: Iterable<UsageAggregate>;
  /** The calls that the cells do not have. */
  readonly live: CallsPlan;
}

async function readWindow(
  engine: Engine,
  { ledger: question, ...plan }: StatsPlan,
  book: PriceBook | undefined,
  { signal }: WindowLimits,
): Promise<WindowRead> {
  const { selection } = plan;
  if (question === undefined || plan.buckets.startsUs.length === 0) return { cells: [], live: selection };
  const { aggregates: cells, uncoveredTraces: traces } = await readOwnUsage(
    engine,
    { ...plan, query: question, book },
    signal,
  );
  return { cells, live: { ...selection, strategy: { kind: "known traces", traces } } };
}
