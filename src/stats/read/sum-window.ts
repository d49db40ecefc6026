import type { Engine } from "../../store/engine.ts";
import { readOwnUsage, type OwnUsage } from "../../ledger/read-own-usage.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { LlmNames } from "../../rollup/table/llm-names.ts";
import type { StatsPlan } from "../plan/plan-stats.ts";
import { WindowFold, type FoldOptions } from "../sums/window-fold.ts";
import { foldTraces, tracesOfWindow, type WindowLimits } from "./read-window.ts";

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
  const { cells, liveTraces } = await readWindow(engine, asked.plan, asked.book, limits);
  for (const cell of cells) fold.addCell(cell);
  await foldTraces(engine, { plan: asked.plan, names, fold }, liveTraces, limits);
  return fold;
}

async function readWindow(
  engine: Engine,
  { ledger: question, ...plan }: StatsPlan,
  book: PriceBook | undefined,
  limits: WindowLimits,
): Promise<OwnUsage> {
  if (question === undefined || plan.buckets.startsUs.length === 0)
    return { cells: [], liveTraces: await tracesOfWindow(engine, plan, limits) };
  return readOwnUsage(engine, { ...plan, question, book }, limits.signal);
}
