import { ask, type Asking } from "../api/ask.ts";
import type { TraceUsage } from "../api/routes.ts";
import { sumOf, totalOf, type Total } from "../numbers/usage.ts";
import { isWanted } from "./cost-filter.ts";
import { usageQuestion, type TracesQuestion } from "./traces-question.ts";

/** What the traces of a window cost, shown or not. */
export interface WindowTotals {
  /** By the id of the root. */
  readonly byRoot: ReadonlyMap<string, Total>;
  readonly total: Total;
  /** The window has more traces than are counted. */
  readonly truncated: boolean;
  /** Calls that have not ended; undefined under a condition on the cost, because their traces are not known. */
  readonly unfinished: number | undefined;
  /** Models without a price, and their tokens. */
  readonly unpriced: readonly (readonly [llm: string, tokens: number])[];
}

export async function loadTotals(question: TracesQuestion, asking: Asking): Promise<WindowTotals> {
  const { body, truncated } = await ask(usageQuestion(question), asking);
  const all = Object.entries(body.call_usage).map(([id, byLlm]) => [id, totalOf(byLlm)] as const);
  const byRoot = new Map(all.filter(([, total]) => isWanted(question.cost, total)));
  return {
    byRoot,
    total: sumOf([...byRoot.values()]),
    truncated,
    unfinished: question.cost === undefined ? body.unfinished_call_ids.length : undefined,
    unpriced: unpricedIn(body.call_usage, byRoot),
  };
}

function unpricedIn(
  usage: TraceUsage["call_usage"],
  totals: ReadonlyMap<string, Total>,
): WindowTotals["unpriced"] {
  const tokens = new Map<string, number>();
  for (const [id, { unpriced }] of totals) {
    const byLlm = usage[id] ?? {};
    for (const llm of unpriced) tokens.set(llm, (tokens.get(llm) ?? 0) + (byLlm[llm]?.total_tokens ?? 0));
  }
  return [...tokens].toSorted(([, a], [, b]) => b - a);
}
