import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownUsageTable } from "../../../../src/trace-usage/fold/own-usage-table.ts";
import { rollUp } from "../../../../src/trace-usage/fold/rollup.ts";
import { idOf, NONE, type CallTable } from "../../../../src/trace-usage/table/call-table.ts";
import { LlmDictionary } from "../../../../src/trace-usage/table/llm-dictionary.ts";
import { COUNT_SLOTS } from "../../../../src/usage/count-fields.ts";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";
import { tableOf } from "../../../helpers/call-table.ts";
import { forest, type CallRow, type ForestOptions } from "../../../models/forests.ts";
import { naiveRollUp, naiveTraceTotal } from "../../../models/naive-rollup.ts";
import { oneRequest, rootRow } from "../../../helpers/one-request.ts";

const RUNS = runs(200, 10_000);
const seed = chosenSeed();

type Counts = Record<string, readonly number[]>;

function sumOf(all: readonly Counts[]): Counts {
  const total: Record<string, number[]> = {};
  for (const [llm, counts] of all.flatMap((one) => Object.entries(one))) {
    if (counts.every((count) => count === 0)) continue;
    total[llm] = counts.map((count, slot) => count + (total[llm]?.[slot] ?? 0));
  }
  return total;
}

/** Own usage of each call as in a response. */
function aloneIn(rows: readonly CallRow[]): Record<string, Counts> {
  const names = new LlmDictionary();
  const calls: CallTable = ownUsageTable(tableOf(rows, names), names);
  const { totals } = rollUp(calls, names, undefined);
  return Object.fromEntries(
    Array.from({ length: calls.count }, (_, call) => {
      const counts: Record<string, number[]> = {};
      for (let entry = totals.heads[call]!; entry !== NONE; entry = totals.next[entry]!) {
        const at = entry * COUNT_SLOTS;
        counts[names.textOf(totals.llms[entry]!)] = Array.from(totals.counts.subarray(at, at + COUNT_SLOTS));
      }
      return [idOf(calls, call), counts];
    }),
  );
}

const free = () => [null, null, null, null];
const countsIn = (usage: ReturnType<typeof naiveTraceTotal>): Counts =>
  Object.fromEntries(Object.entries(usage).map(([llm, { counts }]) => [llm, counts]));

function check(options: ForestOptions, holds: (rows: readonly CallRow[]) => void): void {
  fc.assert(fc.property(forest(options), holds), { numRuns: RUNS, seed });
}

describe("ownUsageTable", () => {
  it.each([
    { maxCalls: 14, inclusive: true, cycles: false, shared: true },
    { maxCalls: 10, inclusive: false, cycles: true, shared: true },
  ])("sums to the usage of the trace: %j", (options) => {
    check(options, (rows) => {
      expect(sumOf(Object.values(aloneIn(rows)))).toEqual(sumOf([countsIn(naiveTraceTotal(rows, free))]));
    });
  });

  it("is the total minus the children's totals, without duplicate completions", () => {
    check({ maxCalls: 14, inclusive: true, cycles: false, shared: false }, (rows) => {
      const totals = naiveRollUp(rows, free);
      const alone = aloneIn(rows);
      for (const { id } of rows) {
        const below = rows.filter(({ parentId }) => parentId === id).map((row) => countsIn(totals[row.id]!));
        expect(sumOf([alone[id]!, ...below])).toEqual(sumOf([countsIn(totals[id]!)]));
      }
    });
  });

  it("has no entry for usage explained by descendants or counted by another call", () => {
    const completionId = "chatcmpl-AbC0dEf1GhI2";
    const rows: CallRow[] = [
      { ...rootRow, id: "agent", inclusive: "per_llm", usage: oneRequest(101) },
      { ...rootRow, id: "sdk", parentId: "agent", usage: oneRequest(100), completionId },
      {
        ...rootRow,
        id: "gateway",
        parentId: "sdk",
        usage: oneRequest(101),
        completionId,
        usageSource: "gateway",
      },
    ];
    expect(aloneIn(rows)).toEqual({ agent: {}, sdk: {}, gateway: { m: [1, 101, 0, 101, 0, 0] } });
  });
});
