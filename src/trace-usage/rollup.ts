import { isNothing, type Usage } from "../calls/usage.ts";
import type { CallCost } from "../prices/cost-of-call.ts";
import { AppError } from "../shared/errors.ts";
import type { CallRow } from "./call-row.ts";
import { buildForest, NONE, type Forest } from "./forest.ts";
import { EntryOfLlm, type LlmNames } from "./llm-names.ts";
import { COST_SLOTS, COUNT_SLOTS, Totals } from "./totals.ts";

/** What one call's own usage costs at the price in force when it started. */
export type CostOf = (usage: Usage, startedAtMs: number) => CallCost;

export interface RolledUpTrace {
  readonly forest: Forest;
  readonly totals: Totals;
}

/** A trace in which every call of a long chain names LLMs of its own grows with the square of its length. */
const MAX_ENTRIES = 20_000_000;

/**
 * Folds the calls of one trace: every call's own usage plus that of all its descendants, per LLM.
 *
 * A call that is inclusive per LLM yields per LLM and count the larger of what it reports and what its children sum up
 * to. One that is inclusive in total is compared with all its children's LLMs together, because its own name for the LLM
 * need not be theirs. Either way only what the children do not explain is charged to it. Calls that are each other's ancestors have one total.
 * Errors: too_many_calls when the answer would not fit into memory. Cost: O(calls + entries), iterative.
 */
export function rollUp(
  calls: readonly CallRow[],
  names: LlmNames,
  costOf: CostOf | undefined,
): RolledUpTrace {
  const forest = buildForest(calls);
  const totals = new Totals(calls.length);
  const entryOf = new EntryOfLlm();
  for (let at = forest.order.length - 1; at >= 0; at--) {
    const number = forest.order[at]!;
    fold(calls[number]!, number, { forest, totals, entryOf, names, costOf });
    if (totals.length > MAX_ENTRIES) {
      throw new AppError("too_many_calls", "The calls of one trace name too many LLMs for one answer.");
    }
  }
  for (const cycle of forest.cycles) shareTotal(cycle, totals, entryOf);
  return { forest, totals };
}

interface Fold {
  readonly forest: Forest;
  readonly totals: Totals;
  readonly entryOf: EntryOfLlm;
  readonly names: LlmNames;
  readonly costOf: CostOf | undefined;
}

function fold(call: CallRow, number: number, fold: Fold): void {
  const { forest, totals, entryOf } = fold;
  const firstChild = forest.firstChild[number]!;
  if (call.usage.length === 0 && firstChild !== NONE && forest.nextSibling[firstChild] === NONE) {
    totals.heads[number] = totals.heads[firstChild]!;
    return;
  }
  for (let child = firstChild; child !== NONE; child = forest.nextSibling[child]!) {
    addList(totals.heads[child]!, number, totals, entryOf);
  }
  const usages = call.inclusive === "in_total" ? unexplainedInTotal(call.usage, number, totals) : call.usage;
  for (const usage of usages) {
    const llm = fold.names.numberOf(usage.llm);
    const entry = entryFor(llm, number, totals, entryOf);
    const own = call.inclusive === "per_llm" ? unexplained(usage, totals.counts, entry * COUNT_SLOTS) : usage;
    addOwn(own, totals.counts, entry * COUNT_SLOTS);
    if (fold.costOf !== undefined)
      addCosts(fold.costOf(own, call.startedAtMs), totals.costs, entry * COST_SLOTS);
  }
  entryOf.clear();
}

function entryFor(llm: number, call: number, totals: Totals, entryOf: EntryOfLlm): number {
  const known = entryOf.get(llm);
  if (known !== NONE) return known;
  const entry = totals.add(call, llm);
  entryOf.set(llm, entry);
  return entry;
}

function addList(head: number, into: number, totals: Totals, entryOf: EntryOfLlm): void {
  for (let from = head; from !== NONE; from = totals.next[from]!) {
    const entry = entryFor(totals.llms[from]!, into, totals, entryOf);
    const { counts, costs } = totals;
    for (let slot = 0; slot < COUNT_SLOTS; slot++) {
      counts[entry * COUNT_SLOTS + slot]! += counts[from * COUNT_SLOTS + slot]!;
    }
    for (let slot = 0; slot < COST_SLOTS; slot++) {
      addCost(costs, entry * COST_SLOTS + slot, costs[from * COST_SLOTS + slot]!);
    }
  }
}

function addOwn(usage: Usage, counts: Float64Array, at: number): void {
  counts[at]! += usage.requests;
  counts[at + 1]! += usage.promptTokens;
  counts[at + 2]! += usage.completionTokens;
  counts[at + 3]! += usage.totalTokens;
  counts[at + 4]! += usage.cacheReadTokens;
  counts[at + 5]! += usage.cacheCreationTokens;
}

/** What a call reports beyond the sum of its children's LLMs; nothing remains of an LLM that is explained altogether. */
function unexplainedInTotal(usages: readonly Usage[], call: number, totals: Totals): readonly Usage[] {
  const left = new Float64Array(COUNT_SLOTS);
  for (let entry = totals.heads[call]!; entry !== NONE; entry = totals.next[entry]!) {
    for (let slot = 0; slot < COUNT_SLOTS; slot++) left[slot]! += totals.counts[entry * COUNT_SLOTS + slot]!;
  }
  return usages.flatMap((usage) => {
    const own = unexplained(usage, left, 0);
    const reported = new Float64Array(COUNT_SLOTS);
    addOwn(usage, reported, 0);
    for (let slot = 0; slot < COUNT_SLOTS; slot++) left[slot] = Math.max(0, left[slot]! - reported[slot]!);
    return isNothing(own) ? [] : [own];
  });
}

/** What an inclusive call reports beyond the sum of its children, which stands in `counts` already. */
function unexplained(usage: Usage, counts: Float64Array, at: number): Usage {
  return {
    llm: usage.llm,
    requests: Math.max(0, usage.requests - counts[at]!),
    promptTokens: Math.max(0, usage.promptTokens - counts[at + 1]!),
    completionTokens: Math.max(0, usage.completionTokens - counts[at + 2]!),
    totalTokens: Math.max(0, usage.totalTokens - counts[at + 3]!),
    cacheReadTokens: Math.max(0, usage.cacheReadTokens - counts[at + 4]!),
    cacheCreationTokens: Math.max(0, usage.cacheCreationTokens - counts[at + 5]!),
    cacheOutsidePrompt: usage.cacheOutsidePrompt,
  };
}

function addCosts(cost: CallCost, into: Float64Array, at: number): void {
  addCost(into, at, cost.prompt_tokens_total_cost ?? Number.NaN);
  addCost(into, at + 1, cost.completion_tokens_total_cost ?? Number.NaN);
  addCost(into, at + 2, cost.cache_read_input_tokens_total_cost ?? Number.NaN);
  addCost(into, at + 3, cost.cache_creation_input_tokens_total_cost ?? Number.NaN);
}

/** Unknown plus known is known: an aggregate is unknown only when all of it is. */
function addCost(costs: Float64Array, at: number, cost: number): void {
  if (Number.isNaN(cost)) return;
  costs[at] = Number.isNaN(costs[at]) ? cost : costs[at]! + cost;
}

function shareTotal(cycle: readonly number[], totals: Totals, entryOf: EntryOfLlm): void {
  const heads = cycle.map((call) => totals.heads[call]!);
  const first = cycle[0]!;
  totals.heads[first] = NONE;
  for (const head of heads) addList(head, first, totals, entryOf);
  entryOf.clear();
  for (const call of cycle) totals.heads[call] = totals.heads[first]!;
}
