import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costFields } from "../../../../src/prices/cost-fields.ts";
import { loadPriceList } from "../../../../src/prices/list/load-price-list.ts";
import { createPriceBook } from "../../../../src/prices/price-book.ts";
import { projectSchedules } from "../../../../src/prices/project/project-prices.ts";
import { receiptOf } from "../../../../src/trace-usage/receipts/receipt.ts";
import { COST_SLOTS } from "../../../../src/prices/cost-fields.ts";
import { rollUp } from "../../../../src/trace-usage/fold/rollup.ts";
import { NONE } from "../../../../src/trace-usage/table/call-table.ts";
import { LlmDictionary } from "../../../../src/trace-usage/table/llm-dictionary.ts";
import { tableOf } from "../../../helpers/call-table.ts";
import { forest, type CallRow } from "../../../models/forests.ts";
import { runs } from "../../../helpers/runs.ts";

const RUNS = runs(100, 3000);
const book = createPriceBook({
  list: await loadPriceList(),
  project: projectSchedules([
    {
      id: "own",
      llm_id: "claude-sonnet-4-5",
      provider_id: "default",
      effectiveAtUs: 500_000_000,
      createdAtMs: 0,
      prompt_token_cost: 0.000_004,
      completion_token_cost: 0.000_02,
      cache_read_input_token_cost: null,
      cache_creation_input_token_cost: 0,
      service_tier: "priority",
      unit_costs: { output_audio_tokens: 0.000_1 },
    },
  ]),
});

const pico = (usd: number | null): number | null => (usd === null ? null : Math.round(usd * 1e12));

/** Roll-up total of a call over all LLMs. */
function rolledUp(rows: readonly CallRow[]): (call: number) => (number | null)[] {
  const names = new LlmDictionary();
  const { totals } = rollUp(tableOf(rows, names), names, (usage, atUs) => book.cost(usage.llm, atUs, usage));
  return (call) => {
    const sums: (number | null)[] = costFields.map(() => (totals.heads[call] === NONE ? 0 : null));
    for (let entry = totals.heads[call]!; entry !== NONE; entry = totals.next[entry]!) {
      sums.forEach((sum, slot) => {
        const cost = totals.costs[entry * COST_SLOTS + slot]!;
        if (!Number.isNaN(cost)) sums[slot] = (sum ?? 0) + cost;
      });
    }
    return sums.map((sum) => (sum === null ? null : Math.round(sum)));
  };
}

describe("receiptOf", () => {
  it.each([
    { inclusive: true, cycles: false },
    { inclusive: false, cycles: true },
  ])("has lines that sum to the totals, to the picodollar: %o", (options) => {
    fc.assert(
      fc.property(forest({ maxCalls: 14, ...options, shared: true }), (rows) => {
        const names = new LlmDictionary();
        const calls = tableOf(rows, names);
        const totalOf = rolledUp(rows);
        rows.forEach((_, call) => {
          const receipt = receiptOf(call, {
            traceId: "t",
            calls,
            names,
            book,
            completionId: "",
            usageBasis: "",
            supersededBy: undefined,
          });
          const expected = totalOf(call);
          expect(costFields.map(({ wire }) => pico(receipt.total[wire]))).toEqual(expected);
          const sums = costFields.map(({ wire }) =>
            receipt.lines
              .filter(({ cost, amount_usd }) => cost === wire && amount_usd !== null)
              .reduce((sum, { amount_usd }) => sum + pico(amount_usd)!, 0),
          );
          expect(sums).toEqual(expected.map((sum) => sum ?? 0));
          for (const { quantity, rate_usd, amount_usd } of receipt.lines) {
            expect(quantity).toBeGreaterThan(0);
            if (rate_usd !== null) expect(pico(amount_usd)).toBe(Math.round(quantity * rate_usd * 1e12));
          }
        });
      }),
      { numRuns: RUNS },
    );
  });

  it("splits each LLM's reported usage into own and counted below", () => {
    fc.assert(
      fc.property(forest({ maxCalls: 14, inclusive: true, cycles: false, shared: true }), (rows) => {
        const names = new LlmDictionary();
        const calls = tableOf(rows, names);
        rows.forEach((row, call) => {
          const { usage } = receiptOf(call, {
            traceId: "t",
            calls,
            names,
            book,
            completionId: "",
            usageBasis: "",
            supersededBy: undefined,
          });
          expect(usage.map(({ reported }) => reported.prompt_tokens)).toEqual(
            row.usage.map(({ promptTokens }) => promptTokens),
          );
          for (const { reported, counted_below, own } of usage) {
            expect(counted_below.prompt_tokens + own.prompt_tokens).toBe(reported.prompt_tokens);
            expect(own.prompt_tokens).toBeGreaterThanOrEqual(0);
          }
        });
      }),
      { numRuns: RUNS },
    );
  });
});
