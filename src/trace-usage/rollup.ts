import type { Usage } from "../calls/usage.ts";
import type { CallCost } from "../prices/cost-of-call.ts";
import { release } from "../shared/release.ts";
import { AppError } from "../shared/errors.ts";
import { inclusiveOf, NONE, usageStartOf, type CallTable } from "./call-table.ts";
import { buildForest, type Forest } from "./forest.ts";
import { EntryOfLlm, type LlmNames } from "./llm-names.ts";
import { COST_SLOTS, Totals } from "./totals.ts";
import { COUNT_SLOTS } from "./usage-entries.ts";

/** What one call's own usage costs at the price in force when it started. */
export type CostOf = (usage: Usage, startedAtMs: number) => CallCost;

export interface RolledUp {
  readonly forest: Forest;
  readonly totals: Totals;
}

/** A trace in which every call of a long chain names LLMs of its own grows with the square of its length. */
const MAX_ENTRIES = 20_000_000;

/**
 * Folds the calls of some traces: every call's own usage plus that of all its descendants, per LLM.
 *
 * A call that is inclusive per LLM yields per LLM and count the larger of what it reports and what its children sum up
 * to. One that is inclusive in total is compared with all its children's LLMs together, because its own name for the
 * LLM need not be theirs. Either way only what the children do not explain is charged to it. Calls that are each other's
 * ancestors have one total.
 * Errors: too_many_calls when the answer would not fit into memory. Cost: O(calls + entries), iterative.
 */
export function rollUp(calls: CallTable, names: LlmNames, costOf: CostOf | undefined): RolledUp {
  const forest = buildForest(calls.parents);
  const totals = new Totals(calls.count, costOf !== undefined);
  const entryOf = new EntryOfLlm();
  const fold: Fold = { calls, forest, totals, entryOf, names, costOf, own: new Float64Array(COUNT_SLOTS) };
  for (let at = forest.order.length - 1; at >= 0; at--) {
    foldCall(forest.order[at]!, fold);
    if (totals.length > MAX_ENTRIES) {
      throw new AppError("too_many_calls", "The calls of one trace name too many LLMs for one answer.");
    }
  }
  for (const cycle of forest.cycles) shareTotal(cycle, fold);
  return { forest, totals };
}

/** Lets totals go that are not read again. */
export function releaseRolledUp({ forest, totals }: RolledUp): void {
  release(forest.parents, forest.order, forest.firstChild, forest.nextSibling);
  release(totals.heads, totals.llms, totals.next, totals.counts, totals.costs);
}

interface Fold {
  readonly calls: CallTable;
  readonly forest: Forest;
  readonly totals: Totals;
  readonly entryOf: EntryOfLlm;
  readonly names: LlmNames;
  readonly costOf: CostOf | undefined;
  /** The counts of the entry at hand. */
  readonly own: Float64Array;
}

function foldCall(call: number, fold: Fold): void {
  const { calls, forest, totals, entryOf, own } = fold;
  const first = usageStartOf(calls, call);
  const end = calls.usageEnd[call]!;
  const firstChild = forest.firstChild[call]!;
  if (first === end && firstChild !== NONE && forest.nextSibling[firstChild] === NONE) {
    totals.heads[call] = totals.heads[firstChild]!;
    return;
  }
  for (let child = firstChild; child !== NONE; child = forest.nextSibling[child]!) {
    addList(totals.heads[child]!, call, fold);
  }
  if (first === end) {
    entryOf.clear();
    return;
  }
  const inclusive = inclusiveOf(calls, call);
  const explained = inclusive === "in_total" ? sumOfAllLlms(call, totals) : undefined;
  for (let used = first; used < end; used++) {
    for (let slot = 0; slot < COUNT_SLOTS; slot++) own[slot] = calls.usage.counts[used * COUNT_SLOTS + slot]!;
    if (explained !== undefined && takeFrom(explained, own)) continue;
    const entry = entryFor(calls.usage.llms[used]!, call, fold);
    if (inclusive === "per_llm") takeOff(totals.counts, entry * COUNT_SLOTS, own);
    for (let slot = 0; slot < COUNT_SLOTS; slot++) totals.counts[entry * COUNT_SLOTS + slot]! += own[slot]!;
    if (fold.costOf !== undefined) addCosts(costOfOwn(used, call, fold), totals.costs, entry * COST_SLOTS);
  }
  entryOf.clear();
}

function entryFor(llm: number, call: number, { totals, entryOf }: Fold): number {
  const known = entryOf.get(llm);
  if (known !== NONE) return known;
  const entry = totals.add(call, llm);
  entryOf.set(llm, entry);
  return entry;
}

function addList(head: number, into: number, fold: Fold): void {
  const { totals } = fold;
  for (let from = head; from !== NONE; from = totals.next[from]!) {
    const entry = entryFor(totals.llms[from]!, into, fold);
    const { counts, costs } = totals;
    for (let slot = 0; slot < COUNT_SLOTS; slot++) {
      counts[entry * COUNT_SLOTS + slot]! += counts[from * COUNT_SLOTS + slot]!;
    }
    if (!totals.withCosts) continue;
    for (let slot = 0; slot < COST_SLOTS; slot++) {
      addCost(costs, entry * COST_SLOTS + slot, costs[from * COST_SLOTS + slot]!);
    }
  }
}

/** What is reported loses what the children explain, which stands in `counts` already. */
function takeOff(counts: Float64Array, at: number, own: Float64Array): void {
  for (let slot = 0; slot < COUNT_SLOTS; slot++) own[slot] = Math.max(0, own[slot]! - counts[at + slot]!);
}

function sumOfAllLlms(call: number, totals: Totals): Float64Array {
  const sum = new Float64Array(COUNT_SLOTS);
  for (let entry = totals.heads[call]!; entry !== NONE; entry = totals.next[entry]!) {
    for (let slot = 0; slot < COUNT_SLOTS; slot++) sum[slot]! += totals.counts[entry * COUNT_SLOTS + slot]!;
  }
  return sum;
}

/** Each of what is reported and what explains it loses the other; true when nothing is left of what is reported. */
function takeFrom(explained: Float64Array, own: Float64Array): boolean {
  let left = 0;
  for (let slot = 0; slot < COUNT_SLOTS; slot++) {
    const common = Math.min(explained[slot]!, own[slot]!);
    explained[slot]! -= common;
    own[slot]! -= common;
    left += own[slot]!;
  }
  return left === 0;
}

function costOfOwn(used: number, call: number, { calls, names, costOf, own }: Fold): CallCost {
  const usage: Usage = {
    llm: names.nameOf(calls.usage.llms[used]!),
    requests: own[0]!,
    promptTokens: own[1]!,
    completionTokens: own[2]!,
    totalTokens: own[3]!,
    cacheReadTokens: own[4]!,
    cacheCreationTokens: own[5]!,
    cacheOutsidePrompt: calls.usage.cacheOutsidePrompt[used] === 1,
  };
  return costOf!(usage, calls.startedAtUs[call]! / 1000);
}

function addCosts(cost: CallCost, into: Float64Array, at: number): void {
  addCost(into, at, cost.prompt ?? Number.NaN);
  addCost(into, at + 1, cost.completion ?? Number.NaN);
  addCost(into, at + 2, cost.cacheRead ?? Number.NaN);
  addCost(into, at + 3, cost.cacheCreation ?? Number.NaN);
}

/** Unknown plus known is known: an aggregate is unknown only when all of it is. */
function addCost(costs: Float64Array, at: number, cost: number): void {
  if (Number.isNaN(cost)) return;
  costs[at] = Number.isNaN(costs[at]) ? cost : costs[at]! + cost;
}

function shareTotal(cycle: readonly number[], fold: Fold): void {
  const { totals, entryOf } = fold;
  const heads = cycle.map((call) => totals.heads[call]!);
  const first = cycle[0]!;
  totals.heads[first] = NONE;
  for (const head of heads) addList(head, first, fold);
  entryOf.clear();
  for (const call of cycle) totals.heads[call] = totals.heads[first]!;
}
