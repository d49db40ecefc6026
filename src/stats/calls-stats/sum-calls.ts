import type { Engine } from "../../store/engine.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import { foldCalls, type WindowLimits } from "../read/read-window.ts";
import { CallsFold } from "./calls-fold.ts";
import type { CallsStatsPlan } from "./plan.ts";

interface Requested {
  readonly plan: CallsStatsPlan;
  /** Undefined if costs are not requested. */
  readonly book: PriceBook | undefined;
  readonly maxAggregates: number;
}

/** Sums all calls of a window. Errors: `StorageError`; too_many_calls. */
export async function sumCalls(
  engine: Engine,
  { plan, book, maxAggregates }: Requested,
  limits: WindowLimits,
): Promise<CallsFold> {
  const names = new LlmDictionary();
  const costOf: CostOf | undefined = book && ((usage, atUs) => book.cost(usage.llm, atUs, usage));
  const fold = new CallsFold({ plan, names, costOf, maxAggregates });
  await foldCalls(engine, { plan, names, fold }, plan.selection, limits);
  return fold;
}
