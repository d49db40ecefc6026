import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownUsage } from "../../../../src/rollup/fold/own-usage.ts";
import { usageOf } from "../../../../src/rollup/fold/usage-of.ts";
import { LlmNames } from "../../../../src/rollup/table/llm-names.ts";
import { COUNT_SLOTS, countRow } from "../../../../src/usage/count-fields.ts";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";
import { tableOf } from "../../../helpers/call-table.ts";
import { forest, type CallRow, type ForestOptions } from "../../../models/forests.ts";
import { naiveTraceTotal } from "../../../models/naive-rollup.ts";

const RUNS = runs(300, 10_000);
const seed = chosenSeed();

type Counts = Record<string, number[]>;

function add(total: Counts, llm: string, counts: readonly number[]): void {
  if (counts.every((count) => count === 0)) return;
  total[llm] = counts.map((count, slot) => count + (total[llm]?.[slot] ?? 0));
}

/** What the calls add to their trace, summed. */
function sumOfOwn(rows: readonly CallRow[]): Counts {
  const names = new LlmNames();
  const calls = tableOf(rows, names);
  const own = ownUsage(calls, names);
  const total: Counts = {};
  for (let used = 0; used < calls.usage.length; used++) {
    const usage = usageOf(
      used,
      { ...own, at: used * COUNT_SLOTS, units: own.units.get(used) },
      { calls, names },
    );
    add(total, usage.llm, countRow(usage));
  }
  return total;
}

const free = () => [null, null, null, null];

function naiveTotal(rows: readonly CallRow[]): Counts {
  const total: Counts = {};
  for (const [llm, { counts }] of Object.entries(naiveTraceTotal(rows, free))) add(total, llm, counts);
  return total;
}

function check(options: ForestOptions): void {
  fc.assert(
    fc.property(forest(options), (rows) => {
      expect(sumOfOwn(rows)).toEqual(naiveTotal(rows));
    }),
    { numRuns: RUNS, seed },
  );
}

describe("ownUsage", () => {
  it("sums up to what the trace used: wrappers, shared completions", () => {
    check({ maxCalls: 14, inclusive: true, cycles: false, shared: true });
  });

  it("sums up to what the trace used: cycles, shared completions", () => {
    check({ maxCalls: 10, inclusive: false, cycles: true, shared: true });
  });
});
