import type { Usage } from "../../calls/usage.ts";
import type { CallCost } from "../../prices/cost-of-call.ts";
import { release } from "../../shared/buffers.ts";
import { AppError } from "../../shared/errors.ts";
import { inclusiveOf, NONE, usageStartOf, type CallTable } from "../table/call-table.ts";
import { lossesOf, releaseLosses, type Losses } from "./losses.ts";
import { buildForest, type Forest } from "./forest.ts";
import { EntryOfLlm, type LlmNames } from "../table/llm-names.ts";
import { COST_SLOTS, Totals } from "./totals.ts";
import { COUNT_SLOTS } from "../table/usage-entries.ts";

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
 * ancestors have one total. Of the calls below a call that report one completion the most exact one counts.
 * Errors: too_many_calls when the answer would not fit into memory. Cost: O(calls + entries), iterative; where
 * calls share completions, O(reports × log depth) more.
 */
export function rollUp(calls: CallTable, names: LlmNames, costOf: CostOf | undefined): RolledUp {
  const forest = buildForest(calls.parents);
  const shared = calls.completionOf;
  const losses = shared === undefined ? undefined : lossesOf(calls, forest, shared);
  const totals = new Totals(calls.count, { costs: costOf !== undefined, parts: losses !== undefined });
  const own = new Float64Array(COUNT_SLOTS);
  const fold: Fold = { calls, forest, losses, totals, entryOf: new EntryOfLlm(), names, costOf, own };
  for (let at = forest.order.length - 1; at >= 0; at--) {
    foldCall(forest.order[at]!, fold);
    if (totals.length > MAX_ENTRIES) {
      throw new AppError("too_many_calls", "The calls of one trace name too many LLMs for one answer.");
    }
  }
  for (const number of forest.cycles.keys()) shareTotal(number, fold);
  if (losses !== undefined) releaseLosses(losses);
  return { forest, totals };
}

/** Lets totals go that are not read again. */
export function releaseRolledUp({ forest, totals }: RolledUp): void {
  release(forest.parents, forest.order, forest.firstChild, forest.nextSibling);
  totals.release();
}

interface Fold {
  readonly calls: CallTable;
  readonly forest: Forest;
  /** Undefined where no calls share a completion. */
  readonly losses: Losses | undefined;
  readonly totals: Totals;
  readonly entryOf: EntryOfLlm;
  readonly names: LlmNames;
  readonly costOf: CostOf | undefined;
  /** The counts of the entry at hand. */
  readonly own: Float64Array;
}

function foldCall(call: number, fold: Fold): void {
  const { calls, forest, losses, totals, entryOf } = fold;
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
  const isLost = losses !== undefined && takeOffLost(call, call, fold);
  if (first < end && !isLost) addOwn(call, fold);
  entryOf.clear();
  if (losses !== undefined) totals.dropEmpty(call);
}

/** What a call itself used; of an inclusive one, what its children do not explain. */
function addOwn(call: number, fold: Fold): void {
  const { calls, losses, totals, own } = fold;
  const isReport = losses !== undefined && losses.completionOf[call] !== NONE;
  const inclusive = isReport ? false : inclusiveOf(calls, call);
  const explained = inclusive === "in_total" ? sumOfAllLlms(call, totals) : undefined;
  for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
    readOwn(used, fold);
    if (explained !== undefined && takeFrom(explained, own)) continue;
    const entry = entryFor(calls.usage.llms[used]!, call, fold);
    if (inclusive === "per_llm") takeOff(totals.counts, entry * COUNT_SLOTS, own);
    for (let slot = 0; slot < COUNT_SLOTS; slot++) totals.counts[entry * COUNT_SLOTS + slot]! += own[slot]!;
    if (totals.withParts && !isNothing(own)) totals.parts[entry]!++;
    if (fold.costOf !== undefined) addCosts(costOfOwn(used, call, fold), totals, entry);
  }
}

function isNothing(own: Float64Array): boolean {
  for (let slot = 0; slot < COUNT_SLOTS; slot++) if (own[slot]! > 0) return false;
  return true;
}

function readOwn(used: number, { calls, own }: Fold): void {
  for (let slot = 0; slot < COUNT_SLOTS; slot++) own[slot] = calls.usage.counts[used * COUNT_SLOTS + slot]!;
}

/** Takes off a call's list what is lost at a node of the forest; true when the call's own report is. */
function takeOffLost(node: number, call: number, fold: Fold): boolean {
  const losses = fold.losses!;
  let isLost = false;
  for (let loss = losses.first[node]!; loss !== NONE; loss = losses.next[loss]!) {
    const lost = losses.lost[loss]!;
    if (lost === node) isLost = true;
    else takeOffReport(lost, call, fold);
  }
  return isLost;
}

/** A report is lost as it was added. */
function takeOffReport(lost: number, call: number, fold: Fold): void {
  const { calls, totals, own } = fold;
  for (let used = usageStartOf(calls, lost); used < calls.usageEnd[lost]!; used++) {
    readOwn(used, fold);
    const entry = entryFor(calls.usage.llms[used]!, call, fold);
    for (let slot = 0; slot < COUNT_SLOTS; slot++) totals.counts[entry * COUNT_SLOTS + slot]! -= own[slot]!;
    totals.parts[entry]!--;
    if (fold.costOf !== undefined) takeOffCosts(costOfOwn(used, lost, fold), totals, entry);
  }
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
    if (totals.withParts) addParts(from, entry, totals);
    if (!totals.withCosts) continue;
    for (let slot = 0; slot < COST_SLOTS; slot++) {
      addCost(costs, entry * COST_SLOTS + slot, costs[from * COST_SLOTS + slot]!);
    }
  }
}

function addParts(from: number, into: number, { withCosts, parts, pricedParts }: Totals): void {
  parts[into]! += parts[from]!;
  if (!withCosts) return;
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    pricedParts[into * COST_SLOTS + slot]! += pricedParts[from * COST_SLOTS + slot]!;
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

function addCosts(cost: CallCost, totals: Totals, entry: number): void {
  const { costs, pricedParts } = totals;
  const at = entry * COST_SLOTS;
  addCost(costs, at, cost.prompt ?? Number.NaN);
  addCost(costs, at + 1, cost.completion ?? Number.NaN);
  addCost(costs, at + 2, cost.cacheRead ?? Number.NaN);
  addCost(costs, at + 3, cost.cacheCreation ?? Number.NaN);
  if (!totals.withParts) return;
  if (cost.prompt !== null) pricedParts[at]!++;
  if (cost.completion !== null) pricedParts[at + 1]!++;
  if (cost.cacheRead !== null) pricedParts[at + 2]!++;
  if (cost.cacheCreation !== null) pricedParts[at + 3]!++;
}

function takeOffCosts(cost: CallCost, totals: Totals, entry: number): void {
  const at = entry * COST_SLOTS;
  takeOffCost(totals, at, cost.prompt);
  takeOffCost(totals, at + 1, cost.completion);
  takeOffCost(totals, at + 2, cost.cacheRead);
  takeOffCost(totals, at + 3, cost.cacheCreation);
}

/** What is left of a sum without any known cost is unknown. */
function takeOffCost({ costs, pricedParts }: Totals, at: number, cost: number | null): void {
  if (cost === null) return;
  const left = --pricedParts[at]!;
  costs[at] = left === 0 ? Number.NaN : Math.max(0, costs[at]! - cost);
}

/** Unknown plus known is known: an aggregate is unknown only when all of it is. */
function addCost(costs: Float64Array, at: number, cost: number): void {
  if (Number.isNaN(cost)) return;
  costs[at] = Number.isNaN(costs[at]) ? cost : costs[at]! + cost;
}

function shareTotal(number: number, fold: Fold): void {
  const { calls, forest, losses, totals, entryOf } = fold;
  const cycle = forest.cycles[number]!;
  const heads = cycle.map((call) => totals.heads[call]!);
  const first = cycle[0]!;
  totals.heads[first] = NONE;
  for (const head of heads) addList(head, first, fold);
  if (losses !== undefined) takeOffLost(calls.count + number, first, fold);
  entryOf.clear();
  if (losses !== undefined) totals.dropEmpty(first);
  for (const call of cycle) totals.heads[call] = totals.heads[first]!;
}
