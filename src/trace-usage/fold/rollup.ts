import { COST_SLOTS, costsInto } from "../../prices/cost-fields.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { release } from "../../shared/buffers.ts";
import { atOnce, ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { areZero, COUNT_SLOTS } from "../../usage/count-fields.ts";
import { addUnits, lessUnits, hasNonTokenUnits, type UnitCounts } from "../../usage/units.ts";
import {
  countsElsewhere,
  inclusiveOf,
  needsTotal,
  NONE,
  someCountElsewhere,
  usageStartOf,
  type CallTable,
} from "../table/call-table.ts";
import { findSuperseded, type SupersededReports } from "./superseded-reports.ts";
import { buildForest, forestOf, type Forest } from "./forest.ts";
import { EntryOfLlm, type LlmDictionary } from "../table/llm-dictionary.ts";
import { addCosts, addContributions, subtractCosts } from "./contribution-costs.ts";
import { Totals } from "./totals.ts";
import { nearestAncestorTotals } from "./ancestor-totals.ts";
import { subtractCommon, usageOf, type Used } from "./used.ts";
import { lessen, UsageElsewhere } from "./usage-elsewhere.ts";

export interface RolledUp extends Disposable {
  readonly forest: Forest;
  readonly totals: Totals;
}

/**
 * Folds the calls of traces into totals: every call's own usage plus that of its descendants, per LLM.
 *
 * For a call that is inclusive per LLM, each count is the larger of its own and the sum of its children's. A call that is
 * inclusive in total is compared with the sum over all LLMs of its children, because it may name another LLM. Either way, only
 * usage that the children do not explain is charged to the call. Calls of a cycle share one total. If several descendants of
 * a call report one completion, the most exact report counts; what counts elsewhere is in no total. Throws `too_many_calls` for too many entries. Cost: O(calls +
 * entries), iterative, plus the distances of the reports of one completion.
 *
 * `kept` receives own usage, see `ownUsage`.
 */
export function rollUp(
  calls: CallTable,
  names: LlmDictionary,
  costOf: CostOf | undefined,
  kept?: OwnUsage,
): RolledUp {
  return atOnce(rollUpSteps(calls, names, costOf, kept));
}

/** Like `rollUp`, in steps. */
export function rollUpSteps(
  calls: CallTable,
  names: LlmDictionary,
  costOf: CostOf | undefined,
  kept?: OwnUsage,
): Steps<RolledUp> {
  return foldForest(calls, buildForest(calls.parents), { names, costOf, kept, onlySelected: false });
}

/**
 * Like `rollUp`, in steps; only selected calls are sure to have totals. If few are selected, usage of the others is added
 * directly to the nearest ancestor with a total.
 */
export function rollUpSelected(
  calls: CallTable,
  names: LlmDictionary,
  costOf: CostOf | undefined,
): Steps<RolledUp> {
  const above = nearestAncestorTotals(calls);
  if (above === undefined) return rollUpSteps(calls, names, costOf);
  return foldForest(calls, forestOf(above), { names, costOf, kept: undefined, onlySelected: true });
}

/** Expected entries if few calls have a total. */
const FEW = 1000;

function* foldForest(
  calls: CallTable,
  forest: Forest,
  { names, costOf, kept, onlySelected }: Pick<Fold, "names" | "costOf" | "kept" | "onlySelected">,
): Steps<RolledUp> {
  yield;
  const shared = calls.completionOf;
  const superseded = shared === undefined ? undefined : findSuperseded(calls, forest, shared);
  const kinds = { costs: costOf !== undefined, parts: superseded !== undefined };
  const totals = new Totals(calls.count, onlySelected ? FEW : calls.count, kinds);
  yield;
  const own = { counts: new Float64Array(COUNT_SLOTS), units: undefined };
  const fold: Fold = {
    calls,
    forest,
    superseded,
    totals,
    entryOf: new EntryOfLlm(),
    names,
    costOf,
    own,
    costs: new Float64Array(COST_SLOTS),
    kept,
    onlySelected,
    elsewhere: someCountElsewhere(calls) ? new UsageElsewhere() : undefined,
  };
  let pauseAt = ROWS_PER_STEP;
  for (let at = forest.order.length - 1; at >= 0; at--) {
    foldCall(forest.order[at]!, fold);
    if (at % ROWS_PER_STEP !== 0 && totals.length < pauseAt) continue;
    pauseAt = totals.length + ROWS_PER_STEP;
    yield;
  }
  for (const number of forest.cycles.keys()) shareTotal(number, fold);
  if (superseded !== undefined && kept !== undefined) clearSuperseded(calls, superseded, kept);
  return { forest, totals, [Symbol.dispose]: disposeRolledUp };
}

function disposeRolledUp(this: RolledUp): void {
  const { parents, order, firstChild, nextSibling } = this.forest;
  release(parents, order, firstChild, nextSibling);
  this.totals[Symbol.dispose]();
}

interface Fold {
  readonly calls: CallTable;
  readonly forest: Forest;
  /** `undefined` without shared completions. */
  readonly superseded: SupersededReports | undefined;
  readonly totals: Totals;
  readonly entryOf: EntryOfLlm;
  readonly names: LlmDictionary;
  readonly costOf: CostOf | undefined;
  /** Usage and costs of the current entry. */
  readonly own: Used;
  readonly costs: Float64Array;
  /** Own usage, if requested. */
  readonly kept: OwnUsage | undefined;
  /** True if only selected and inclusive calls have a total: the usage of others is added to the nearest one above. */
  readonly onlySelected: boolean;
  /** `undefined` if everything counts in its trace. */
  readonly elsewhere: UsageElsewhere | undefined;
}

/** Own usage of usage entries, in the order of the table. */
export interface OwnUsage {
  readonly counts: Float64Array;
  readonly units: Map<number, UnitCounts>;
}

/** Clears the own usage of superseded reports. */
function clearSuperseded(calls: CallTable, { countedElsewhere }: SupersededReports, kept: OwnUsage): void {
  for (let call = 0; call < calls.count; call++) {
    if (countedElsewhere[call] === 0) continue;
    const [from, to] = [usageStartOf(calls, call), calls.usageEnd[call]!];
    kept.counts.fill(0, from * COUNT_SLOTS, to * COUNT_SLOTS);
    for (let used = from; used < to; used++) kept.units.delete(used);
  }
}

function foldCall(call: number, fold: Fold): void {
  const { calls, forest, superseded, totals, entryOf } = fold;
  if (!hasTotal(call, fold)) return;
  fold.elsewhere?.gather(call, forest);
  const first = usageStartOf(calls, call);
  const end = calls.usageEnd[call]!;
  const firstChild = forest.firstChild[call]!;
  const isOnly = firstChild !== NONE && forest.nextSibling[firstChild] === NONE;
  if (first === end && isOnly && hasTotal(firstChild, fold)) {
    totals.heads[call] = totals.heads[firstChild]!;
    return;
  }
  for (let child = firstChild; child !== NONE; child = forest.nextSibling[child]!) {
    if (hasTotal(child, fold)) addList(totals.heads[child]!, call, fold);
    else addReported(child, call, fold);
  }
  const isSuperseded = superseded !== undefined && subtractSuperseded(call, call, fold);
  if (first < end && !isSuperseded) addOwn(call, fold);
  entryOf.clear();
  if (superseded !== undefined) totals.dropEmpty(call);
}

function hasTotal(call: number, { onlySelected, calls }: Fold): boolean {
  return !onlySelected || needsTotal(calls, call);
}

/** Adds a call's own usage; for an inclusive call, the share that its children do not explain. */
function addOwn(call: number, fold: Fold): void {
  const { calls, superseded, totals, own } = fold;
  const isReport = superseded !== undefined && superseded.completionOf[call] !== NONE;
  const inclusive = isReport ? false : inclusiveOf(calls, call);
  const explained = inclusive === "in_total" ? sumOfAllLlms(call, totals) : undefined;
  if (explained !== undefined) fold.elsewhere?.addAll(call, explained);
  const isElsewhere = fold.elsewhere !== undefined && countsElsewhere(calls, call);
  for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
    readOwn(used, fold);
    if (explained !== undefined) subtractCommon(explained, own);
    const llm = calls.usage.llms[used]!;
    if (inclusive === "per_llm") subtractExplained(llm, call, fold);
    if (inclusive !== false && areZero(own.counts) && !hasNonTokenUnits(own.units)) continue;
    if (isElsewhere) {
      fold.elsewhere.add(call, llm, own);
      continue;
    }
    if (fold.kept !== undefined) keep(used, own, fold.kept);
    const entry = entryFor(llm, call, fold);
    for (let slot = 0; slot < COUNT_SLOTS; slot++)
      totals.counts[entry * COUNT_SLOTS + slot]! += own.counts[slot]!;
    totals.addUnits(entry, own.units);
    if (totals.withParts) totals.parts[entry]!++;
    if (fold.costOf !== undefined) addCosts(costsOfOwn(used, call, fold), totals, entry);
  }
}

/** Adds the usage of a call that is neither inclusive nor a report of a shared completion. */
function addReported(call: number, into: number, fold: Fold): void {
  const { calls, totals } = fold;
  const { usage } = calls;
  const isElsewhere = fold.elsewhere !== undefined && countsElsewhere(calls, call);
  for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
    if (isElsewhere) {
      readOwn(used, fold);
      fold.elsewhere.add(into, usage.llms[used]!, fold.own);
      continue;
    }
    const entry = entryFor(usage.llms[used]!, into, fold);
    for (let slot = 0; slot < COUNT_SLOTS; slot++)
      totals.counts[entry * COUNT_SLOTS + slot]! += usage.counts[used * COUNT_SLOTS + slot]!;
    if (usage.units.size > 0) totals.addUnits(entry, usage.units.get(used));
    if (fold.costOf === undefined) continue;
    readOwn(used, fold);
    addCosts(costsOfOwn(used, call, fold), totals, entry);
  }
}

function keep(used: number, own: Used, { counts, units }: OwnUsage): void {
  counts.set(own.counts, used * COUNT_SLOTS);
  if (own.units !== undefined) units.set(used, own.units);
}

function readOwn(used: number, { calls: { usage }, own }: Fold): void {
  for (let slot = 0; slot < COUNT_SLOTS; slot++) own.counts[slot] = usage.counts[used * COUNT_SLOTS + slot]!;
  own.units = usage.units.size === 0 ? undefined : usage.units.get(used);
}

/** Subtracts the reports superseded at a node from a call's list; true if the call's own report is superseded. */
function subtractSuperseded(node: number, call: number, fold: Fold): boolean {
  const superseded = fold.superseded!;
  let isSuperseded = false;
  for (let report = superseded.first[node]!; report !== NONE; report = superseded.next[report]!) {
    if (report === node) isSuperseded = true;
    else subtractReport(report, call, fold);
  }
  return isSuperseded;
}

/** Subtracts a report in the same way as it was added. */
function subtractReport(report: number, call: number, fold: Fold): void {
  const { calls, totals, own } = fold;
  const isElsewhere = fold.elsewhere !== undefined && countsElsewhere(calls, report);
  for (let used = usageStartOf(calls, report); used < calls.usageEnd[report]!; used++) {
    readOwn(used, fold);
    if (isElsewhere) {
      fold.elsewhere.subtract(call, calls.usage.llms[used]!, own);
      continue;
    }
    const entry = entryFor(calls.usage.llms[used]!, call, fold);
    for (let slot = 0; slot < COUNT_SLOTS; slot++)
      totals.counts[entry * COUNT_SLOTS + slot]! -= own.counts[slot]!;
    if (own.units !== undefined) totals.subtractUnits(entry, own.units);
    totals.parts[entry]!--;
    if (fold.costOf !== undefined) subtractCosts(costsOfOwn(used, report, fold), totals, entry);
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
    const { counts, units } = totals;
    for (let slot = 0; slot < COUNT_SLOTS; slot++) {
      counts[entry * COUNT_SLOTS + slot]! += counts[from * COUNT_SLOTS + slot]!;
    }
    if (units.size > 0) totals.addUnits(entry, units.get(from));
    addContributions(from, entry, totals);
  }
}

/** Subtracts the children's usage of an LLM from the call's. */
function subtractExplained(llm: number, call: number, { totals, entryOf, own, elsewhere }: Fold): void {
  const explained = elsewhere?.of(call, llm);
  if (explained !== undefined) lessen(own, explained);
  const entry = entryOf.get(llm);
  if (entry === NONE) return;
  const { counts, units } = totals;
  const at = entry * COUNT_SLOTS;
  for (let slot = 0; slot < COUNT_SLOTS; slot++)
    own.counts[slot] = Math.max(0, own.counts[slot]! - counts[at + slot]!);
  own.units = lessUnits(own.units, units.get(entry));
}

function sumOfAllLlms(call: number, { heads, next, counts, units }: Totals): Used {
  const sum = new Float64Array(COUNT_SLOTS);
  let unitSum: UnitCounts | undefined;
  for (let entry = heads[call]!; entry !== NONE; entry = next[entry]!) {
    for (let slot = 0; slot < COUNT_SLOTS; slot++) sum[slot]! += counts[entry * COUNT_SLOTS + slot]!;
    if (units.size > 0) unitSum = addUnits(unitSum, units.get(entry));
  }
  return { counts: sum, units: unitSum };
}

function costsOfOwn(used: number, call: number, fold: Fold): Float64Array {
  const { counts, units } = fold.own;
  const priced = usageOf(used, { counts, at: 0, units }, fold);
  costsInto(fold.costs, fold.costOf!(priced, fold.calls.startedAtUs[call]!));
  return fold.costs;
}

function shareTotal(number: number, fold: Fold): void {
  const { calls, forest, superseded, totals, entryOf } = fold;
  const cycle = forest.cycles[number]!;
  const heads = cycle.map((call) => totals.heads[call]!);
  const first = cycle[0]!;
  totals.heads[first] = NONE;
  for (const head of heads) addList(head, first, fold);
  if (superseded !== undefined) subtractSuperseded(calls.count + number, first, fold);
  entryOf.clear();
  if (superseded !== undefined) totals.dropEmpty(first);
  for (const call of cycle) totals.heads[call] = totals.heads[first]!;
}
