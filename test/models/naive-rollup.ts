import type { CallRow } from "./forests.ts";
import { countFields, countRow, countsAt } from "../../src/usage/count-fields.ts";
import { unitsAndStated, unitsOf, type UnitCounts } from "../../src/usage/units.ts";
import { isNothing, type Usage } from "../../src/usage/usage.ts";

/** The counts and units of a usage, and what each kind of cost comes to; an unknown cost is null. */
export interface NaiveTotal {
  counts: number[];
  units: UnitCounts;
  costs: (number | null)[];
}
export type NaiveTotals = Record<string, NaiveTotal>;
export type NaiveCost = (usage: Usage, startedAtMs: number) => (number | null)[];

/**
 * The definition of the roll-up, written down without any thought of speed: a call's total is what the distinct completions of its
 * subtree used, each by its most exact report there, and what inclusive calls report beyond what is below them. Ids are all taken
 * to be unique. A call that counts elsewhere explains what is above it, and is in no total.
 */
export function naiveRollUp(calls: readonly CallRow[], costOf: NaiveCost): Record<string, NaiveTotals> {
  if (new Set(calls.map((call) => call.id)).size !== calls.length) throw new Error("ids must differ");
  const trees = new Trees(calls);
  const response: Record<string, NaiveTotals> = {};
  for (const call of calls)
    response[call.id] = totalOf([call, ...trees.below(call)], trees, costOf, countsHere);
  return response;
}

/** Computes the usage of a trace: each of its completions once. */
export function naiveTraceTotal(calls: readonly CallRow[], costOf: NaiveCost): NaiveTotals {
  return totalOf(calls, new Trees(calls), costOf, countsHere);
}

class Trees {
  private readonly calls: readonly CallRow[];

  constructor(calls: readonly CallRow[]) {
    this.calls = calls;
  }

  /** All calls below one, itself left out, each once. */
  below(call: CallRow): CallRow[] {
    return descendants(call, (id) => this.calls.filter((one) => one.parentId === id && one.id !== id));
  }

  isCyclic(call: CallRow): boolean {
    return this.below(call).some((other) => this.below(other).includes(call));
  }

  depth(call: CallRow): number {
    const parent = this.calls.find((one) => one.id === call.parentId);
    if (this.isCyclic(call)) return 1;
    return parent === undefined || parent === call ? 0 : 1 + this.depth(parent);
  }

  /** The completion that a call reports and others too; undefined for what is its own, a wrapper's rest for one. */
  sharedCompletion(call: CallRow): string | undefined {
    const id = reports(call) ? call.completionId : undefined;
    if (
      id === undefined ||
      !this.calls.some((one) => one !== call && reports(one) && one.completionId === id)
    )
      return undefined;
    const below = this.below(call).filter(reports);
    const wraps =
      call.inclusive !== false &&
      !this.isCyclic(call) &&
      (below.some((one) => one.completionId === id) || !hasRequests(call)) &&
      below.some((one) => this.sharedCompletion(one) !== id);
    return wraps ? undefined : id;
  }

  /** A span of a request with an id that no other call has asked a model itself. */
  asked(call: CallRow): boolean {
    const { completionId: id } = call;
    const others = this.calls.filter((one) => one !== call && reports(one) && one.completionId === id);
    return call.inclusive === "in_total" && id !== undefined && others.length === 0 && hasRequests(call);
  }
}

function hasRequests(call: CallRow): boolean {
  return call.usage.some((usage) => usage.requests > 0);
}

function reports(call: CallRow): boolean {
  return call.usage.length > 0;
}

function countsHere({ usageSource }: CallRow): boolean {
  return usageSource !== "elsewhere";
}

function totalOf(
  calls: readonly CallRow[],
  trees: Trees,
  costOf: NaiveCost,
  isCounted: (call: CallRow) => boolean = () => true,
): NaiveTotals {
  const best = new Map<string, CallRow>();
  const total: NaiveTotals = {};
  for (const call of calls) {
    const completion = trees.sharedCompletion(call);
    if (completion === undefined) {
      if (!isCounted(call)) continue;
      for (const [llm, part] of ownOf(call, trees, costOf)) add(total, llm, part);
    } else {
      const other = best.get(completion);
      if (other === undefined || isMoreExact(call, other, trees)) best.set(completion, call);
    }
  }
  for (const call of best.values()) {
    if (!isCounted(call)) continue;
    for (const usage of call.usage) add(total, usage.llm, own(usage, call, costOf));
  }
  return total;
}

const EXACTNESS = ["estimate", "client", "gateway"];

function isMoreExact(one: CallRow, other: CallRow, trees: Trees): boolean {
  const exactness = (call: CallRow) => EXACTNESS.indexOf(call.usageSource ?? "client");
  const told = (call: CallRow) => call.usage.flatMap(countRow).filter((count) => count > 0).length;
  const difference =
    Math.sign(told(one)) - Math.sign(told(other)) ||
    exactness(one) - exactness(other) ||
    trees.depth(one) - trees.depth(other) ||
    told(one) - told(other) ||
    other.startedAtMs - one.startedAtMs;
  return difference === 0 ? one.id < other.id : difference > 0;
}

/** Computes a call's own usage; for an inclusive one, the rest that its descendants do not explain. */
function ownOf(call: CallRow, trees: Trees, costOf: NaiveCost): [string, NaiveTotal][] {
  if (call.inclusive === false || trees.isCyclic(call) || trees.asked(call)) {
    return call.usage.map((usage) => [usage.llm, own(usage, call, costOf)]);
  }
  const below = totalOf(trees.below(call), trees, costOf);
  if (call.inclusive === "per_llm") {
    return call.usage.flatMap((usage): [string, NaiveTotal][] => {
      const rest = lessThan(usage, below[usage.llm] ?? nothing());
      return isNothing(rest) ? [] : [[usage.llm, own(rest, call, costOf)]];
    });
  }
  let ofAllLlms = Object.values(below).reduce(sumOf, nothing());
  return call.usage.flatMap((usage): [string, NaiveTotal][] => {
    const rest = lessThan(usage, ofAllLlms);
    const reported = { counts: countRow(usage), units: usage.units ?? {} };
    ofAllLlms = {
      counts: ofAllLlms.counts.map((count, slot) => Math.max(0, count - reported.counts[slot]!)),
      units:
        unitsOf(unitsAndStated, (unit) => (ofAllLlms.units[unit] ?? 0) - (reported.units[unit] ?? 0)) ?? {},
    };
    return isNothing(rest) ? [] : [[usage.llm, own(rest, call, costOf)]];
  });
}

type Used = Pick<NaiveTotal, "counts" | "units">;

function nothing(): Used {
  return { counts: countFields.map(() => 0), units: {} };
}

function sumOf(one: Used, other: Used): Used {
  const units = unitsAndStated.map((unit): [keyof UnitCounts, number] => [
    unit,
    (one.units[unit] ?? 0) + (other.units[unit] ?? 0),
  ]);
  return {
    counts: one.counts.map((count, slot) => count + other.counts[slot]!),
    units: Object.fromEntries(units.filter(([, count]) => count > 0)),
  };
}

/** Subtracts explained usage. */
function lessThan(usage: Usage, explained: Used): Usage {
  const rest = countRow(usage).map((count, slot) => Math.max(0, count - explained.counts[slot]!));
  const units = unitsAndStated
    .map((unit): [keyof UnitCounts, number] => [
      unit,
      (usage.units?.[unit] ?? 0) - (explained.units[unit] ?? 0),
    ])
    .filter(([, count]) => count > 0);
  return {
    ...usage,
    ...countsAt(rest, 0),
    units: units.length === 0 ? undefined : Object.fromEntries(units),
  };
}

function descendants(call: CallRow, childrenOf: (id: string) => CallRow[]): CallRow[] {
  const found: CallRow[] = [];
  const visit = (one: CallRow): void => {
    for (const child of childrenOf(one.id)) {
      if (child === call || found.includes(child)) continue;
      found.push(child);
      visit(child);
    }
  };
  visit(call);
  return found;
}

function own(usage: Usage, call: CallRow, costOf: NaiveCost): NaiveTotal {
  return { counts: countRow(usage), units: usage.units ?? {}, costs: costOf(usage, call.startedAtMs) };
}

function add(total: NaiveTotals, llm: string, part: NaiveTotal): void {
  const known = total[llm];
  if (known === undefined) {
    total[llm] = { counts: [...part.counts], units: part.units, costs: [...part.costs] };
    return;
  }
  const { counts, units } = sumOf(known, part);
  known.counts = counts;
  known.units = units;
  known.costs = known.costs.map((cost, slot) => {
    const other = part.costs[slot]!;
    return cost === null ? other : other === null ? cost : cost + other;
  });
}
