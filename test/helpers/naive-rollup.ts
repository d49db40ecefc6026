import type { CallRow } from "./forests.ts";
import type { Usage } from "../../src/calls/usage.ts";

/** The six counts of a usage, and what the four kinds of tokens cost; an unknown cost is null. */
export interface NaiveTotal {
  counts: number[];
  costs: (number | null)[];
}
export type NaiveTotals = Record<string, NaiveTotal>;
export type NaiveCost = (usage: Usage, startedAtMs: number) => (number | null)[];

/** The definition of the roll-up, written down without any thought of speed. */
export function naiveRollUp(calls: readonly CallRow[], costOf: NaiveCost): Record<string, NaiveTotals> {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const childrenOf = (id: string) => calls.filter((call) => call.parentId === id && call.id !== id);
  const answer: Record<string, NaiveTotals> = {};
  for (const call of calls) {
    const below = descendants(call, childrenOf);
    const cyclic = below.some((other) => descendants(other, childrenOf).includes(call));
    if (cyclic || ![call, ...below].some((one) => one.inclusive)) {
      const total: NaiveTotals = {};
      for (const one of [call, ...below])
        for (const usage of one.usage) add(total, usage.llm, own(usage, one, costOf));
      answer[call.id] = total;
    } else {
      answer[call.id] = valueOf(call, childrenOf, costOf);
    }
  }
  if (byId.size !== calls.length) throw new Error("ids must differ");
  return answer;
}

/** All calls below one, itself left out, each once. */
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

function valueOf(call: CallRow, childrenOf: (id: string) => CallRow[], costOf: NaiveCost): NaiveTotals {
  const total: NaiveTotals = {};
  for (const child of childrenOf(call.id)) {
    for (const [llm, part] of Object.entries(valueOf(child, childrenOf, costOf))) add(total, llm, part);
  }
  const ofAllLlms = [0, 1, 2, 3, 4, 5].map((slot) =>
    Object.values(total).reduce((sum, part) => sum + part.counts[slot]!, 0),
  );
  for (const usage of call.usage) {
    const reported = countsOf(usage);
    if (call.inclusive === false) {
      add(total, usage.llm, own(usage, call, costOf));
    } else if (call.inclusive === "per_llm") {
      const explained = total[usage.llm]?.counts ?? [0, 0, 0, 0, 0, 0];
      const rest = reported.map((count, slot) => Math.max(0, count - explained[slot]!));
      add(total, usage.llm, own(fromCounts(usage, rest), call, costOf));
    } else {
      const rest = reported.map((count, slot) => Math.max(0, count - ofAllLlms[slot]!));
      reported.forEach((count, slot) => (ofAllLlms[slot] = Math.max(0, ofAllLlms[slot]! - count)));
      if (rest.some((count) => count > 0)) add(total, usage.llm, own(fromCounts(usage, rest), call, costOf));
    }
  }
  return total;
}

function own(usage: Usage, call: CallRow, costOf: NaiveCost): NaiveTotal {
  return { counts: countsOf(usage), costs: costOf(usage, call.startedAtMs) };
}

function add(total: NaiveTotals, llm: string, part: NaiveTotal): void {
  const known = total[llm];
  if (known === undefined) {
    total[llm] = { counts: [...part.counts], costs: [...part.costs] };
    return;
  }
  known.counts = known.counts.map((count, slot) => count + part.counts[slot]!);
  known.costs = known.costs.map((cost, slot) => {
    const other = part.costs[slot]!;
    return cost === null ? other : other === null ? cost : cost + other;
  });
}

export function countsOf(usage: Usage): number[] {
  return [
    usage.requests,
    usage.promptTokens,
    usage.completionTokens,
    usage.totalTokens,
    usage.cacheReadTokens,
    usage.cacheCreationTokens,
  ];
}

function fromCounts(usage: Usage, counts: readonly number[]): Usage {
  const [requests, promptTokens, completionTokens, totalTokens, cacheReadTokens, cacheCreationTokens] =
    counts;
  return {
    ...usage,
    requests: requests!,
    promptTokens: promptTokens!,
    completionTokens: completionTokens!,
    totalTokens: totalTokens!,
    cacheReadTokens: cacheReadTokens!,
    cacheCreationTokens: cacheCreationTokens!,
  };
}
