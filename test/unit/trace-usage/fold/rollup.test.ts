import { atOnce } from "../../../../src/shared/steps.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  COST_SLOTS,
  costFields,
  tokenCostFields,
  type CallCost,
} from "../../../../src/prices/cost-fields.ts";
import { unknownCost } from "../../../../src/prices/cost-of-call.ts";
import {
  entryTexts,
  unfinishedIds,
  writeCallUsage,
  writeUnfinished,
} from "../../../../src/trace-usage/response/json/call-usage.ts";
import type { CallTable } from "../../../../src/trace-usage/table/call-table.ts";
import { LlmDictionary } from "../../../../src/trace-usage/table/llm-dictionary.ts";
import { ownUsages } from "../../../../src/trace-usage/fold/own-usage.ts";
import {
  rollUp,
  rollUpSelected,
  rollUpSteps,
  type RolledUp,
} from "../../../../src/trace-usage/fold/rollup.ts";
import { ByteWriter } from "../../../../src/trace-usage/response/bytes/byte-writer.ts";
import { NONE } from "../../../../src/trace-usage/table/call-table.ts";
import { COUNT_SLOTS, countFields } from "../../../../src/usage/count-fields.ts";
import { pricedUnitsOf } from "../../../../src/usage/units.ts";
import type { Usage } from "../../../../src/usage/usage.ts";
import { tableOf } from "../../../helpers/call-table.ts";
import { forest, type CallRow } from "../../../models/forests.ts";
import { naiveRollUp, naiveTraceTotal, type NaiveTotals } from "../../../models/naive-rollup.ts";
import { runs } from "../../../helpers/runs.ts";

const RUNS = runs(100, 1000);

const LATER_PRICE = 2_000_000;

/** In picodollars, so that sums are exact in any order; one model has no price. */
function costOf(usage: Usage, startedAtUs: number): CallCost {
  const { units, service } = usage;
  const price = (startedAtUs < 500_000_000 ? 1 : LATER_PRICE) * (service?.tier === "priority" ? 2 : 1);
  if (usage.llm === "no-such-model" || service?.provider === "nobody-knows") return unknownCost;
  return {
    prompt: usage.promptTokens * price,
    completion: usage.completionTokens * price + (units?.output_audio_tokens ?? 0),
    cacheRead: usage.cacheReadTokens,
    cacheCreation: usage.cacheCreationTokens + (units?.cache_write_1h_tokens ?? 0),
    other: (units?.web_searches ?? 0) * 1000,
  };
}

function naiveCostOf(usage: Usage, startedAtMs: number): (number | null)[] {
  const cost = costOf(usage, startedAtMs * 1000);
  return costFields.map(({ kind }) => cost[kind]);
}

function answerOf(rows: readonly CallRow[]): Record<string, NaiveTotals> {
  const names = new LlmDictionary();
  const calls = tableOf(
    rows.map((row) => ({ ...row, selected: true })),
    names,
  );
  const rolledUp = rollUp(calls, names, costOf);
  const parsed = JSON.parse(`{${textOf(calls, rolledUp, names)}}`) as Record<
    string,
    Record<string, Record<string, number | null>>
  >;
  const folded = foldedOf(rows, names, rolledUp);
  return mapValues(parsed, (perLlm, id) =>
    mapValues(perLlm, (entry, llm) => ({
      counts: countFields.map(({ wire }) => entry[wire]!),
      units: folded[id]![llm]!.units,
      costs: [
        ...tokenCostFields.map(({ wire }) => (entry[wire] === null ? null : Math.round(entry[wire]! * 1e12))),
        folded[id]![llm]!.other,
      ],
    })),
  );
}

/** The naive totals, without entries that only state a cost, which the response omits. */
function expectedOf(calls: readonly CallRow[]): Record<string, NaiveTotals> {
  return mapValues(naiveRollUp(calls, naiveCostOf), (totals) =>
    Object.fromEntries(
      Object.entries(totals).filter(
        ([, { counts, units }]) => counts.some((count) => count > 0) || pricedUnitsOf(units) !== undefined,
      ),
    ),
  );
}

/** Members of a total that the response omits. */
function foldedOf(rows: readonly CallRow[], names: LlmDictionary, { totals }: RolledUp) {
  const folded: Record<string, Record<string, { units: object; other: number | null }>> = {};
  rows.forEach(({ id }, call) => {
    const perLlm: (typeof folded)[string] = {};
    for (let entry = totals.heads[call]!; entry !== NONE; entry = totals.next[entry]!) {
      const other = totals.costs[entry * COST_SLOTS + COST_SLOTS - 1]!;
      perLlm[names.textOf(totals.llms[entry]!)] = {
        units: totals.units.get(entry) ?? {},
        other: Number.isNaN(other) ? null : other,
      };
    }
    folded[id] = perLlm;
  });
  return folded;
}

function textOf(calls: CallTable, rolledUp: RolledUp, names: LlmDictionary): string {
  const writer = new ByteWriter();
  const texts = entryTexts(names, { withCosts: rolledUp.totals.withCosts, printed: "tokens" });
  const to = { writer, texts, chunkBytes: 100, isFirst: true };
  const pieces = Array.from(writeCallUsage(calls, rolledUp, to), (piece) => piece.toString("latin1"));
  return Buffer.from(pieces.join("") + writer.take().toString("latin1"), "latin1").toString();
}

function mapValues<From, To>(
  record: Record<string, From>,
  change: (value: From, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

function call(id: string, more: Partial<CallRow> = {}): CallRow {
  return {
    id,
    parentId: "",
    finished: true,
    inclusive: false,
    selected: true,
    startedAtMs: 0,
    usage: [],
    ...more,
  };
}

function prompt(tokens: number, llm = "gpt-4o"): readonly Usage[] {
  return [
    {
      llm,
      requests: 1,
      promptTokens: tokens,
      completionTokens: 0,
      totalTokens: tokens,
      cacheReadTokens: 0,
      cacheCreationTokens: 0,
      cacheOutsidePrompt: false,
    },
  ];
}

describe("rollUp", () => {
  it("agrees with the naive definition on plain forests", () => {
    fc.assert(
      fc.property(forest({ maxCalls: 25, inclusive: false, cycles: false }), (calls) => {
        expect(answerOf(calls)).toEqual(expectedOf(calls));
      }),
      { numRuns: RUNS },
    );
  });

  it("agrees with the naive definition when inclusive and plain producers are mixed", () => {
    fc.assert(
      fc.property(forest({ maxCalls: 25, inclusive: true, cycles: false }), (calls) => {
        expect(answerOf(calls)).toEqual(expectedOf(calls));
      }),
      { numRuns: RUNS },
    );
  });

  it("counts each call of a cycle once", () => {
    fc.assert(
      fc.property(forest({ maxCalls: 12, inclusive: false, cycles: true }), (calls) => {
        expect(answerOf(calls)).toEqual(expectedOf(calls));
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    { inclusive: false, cycles: false },
    { inclusive: true, cycles: false },
    { inclusive: false, cycles: true },
  ])("counts each completion of a subtree once, by its most exact record: %o", (options) => {
    fc.assert(
      fc.property(forest({ maxCalls: 16, ...options, shared: true }), (calls) => {
        expect(answerOf(calls)).toEqual(expectedOf(calls));
      }),
      { numRuns: RUNS * 3 },
    );
  });

  it.each([
    { inclusive: false, cycles: true },
    { inclusive: true, cycles: false },
  ])("leaves out what counts elsewhere, which still explains what is above it: %o", (options) => {
    fc.assert(
      fc.property(forest({ maxCalls: 16, ...options, elsewhere: true }), (calls) => {
        expect(answerOf(calls)).toEqual(expectedOf(calls));
      }),
      { numRuns: RUNS * 3 },
    );
  });

  it("returns the same totals in any order of calls", () => {
    fc.assert(
      fc.property(
        forest({ maxCalls: 20, inclusive: true, cycles: true, shared: true }).chain((calls) =>
          fc.tuple(fc.constant(calls), fc.shuffledSubarray(calls, { minLength: calls.length })),
        ),
        ([calls, shuffled]) => {
          expect(answerOf(shuffled)).toEqual(answerOf(calls));
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("does not add usage that a wrapper span repeats under another LLM's name", () => {
    const calls = [
      call("root", { inclusive: "in_total", usage: prompt(30, "gpt-4o") }),
      call("a", { parentId: "root", usage: prompt(10, "gpt-4o-2024-08-06") }),
      call("b", { parentId: "root", usage: prompt(20, "gpt-4o-mini") }),
    ];
    const root = answerOf(calls)["root"]!;
    expect(Object.entries(root).map(([llm, total]) => [llm, total.counts[1]])).toEqual(
      expect.arrayContaining([
        ["gpt-4o-2024-08-06", 10],
        ["gpt-4o-mini", 20],
      ]),
    );
    expect(Object.keys(root)).toHaveLength(2);
  });

  it("folds a chain of 100,000 calls", () => {
    const calls = Array.from({ length: 100_000 }, (_, number) =>
      call(`c${number}`, { parentId: number === 0 ? "" : `c${number - 1}`, usage: prompt(1) }),
    );
    const names = new LlmDictionary();
    const { totals } = rollUp(tableOf(calls, names), names, undefined);
    expect(totals.counts[totals.heads[0]! * COUNT_SLOTS + 1]).toBe(100_000);
  });

  it("folds a cycle of 100,000 calls", () => {
    const calls = Array.from({ length: 100_000 }, (_, number) =>
      call(`c${number}`, { parentId: `c${(number + 1) % 100_000}`, usage: prompt(1) }),
    );
    const names = new LlmDictionary();
    const { totals } = rollUp(tableOf(calls, names), names, undefined);
    expect(totals.counts[totals.heads[77]! * COUNT_SLOTS + 1]).toBe(100_000);
  });
});

describe("a chain of calls with distinct LLMs", () => {
  const chainOf = (length: number): CallTable => {
    const calls = Array.from({ length }, (_, number) =>
      call(`c${number}`, {
        parentId: number === 0 ? "" : `c${number - 1}`,
        usage: prompt(1, `llm-${number}`),
      }),
    );
    return tableOf(calls, new LlmDictionary());
  };

  it("is rejected at the limit, because its totals would need O(length²) entries", () => {
    const steps = rollUpSteps(chainOf(2000), new LlmDictionary(), undefined);
    expect(() => atOnce(steps)).toThrow("more than 1000000 entries");
  });

  it("yields while summing entries, however few calls it has", () => {
    const steps = rollUpSteps(chainOf(1400), new LlmDictionary(), undefined);
    let [pauses, step] = [0, steps.next()];
    for (; step.done !== true; step = steps.next()) pauses++;
    expect(step.value.totals.length).toBe((1400 * 1401) / 2);
    expect(pauses).toBeGreaterThan(200);
  });
});

describe("reports of one completion far apart", () => {
  const chainOf = (length: number): CallTable => {
    const calls = Array.from({ length }, (_, number) =>
      call(`c${number}`, {
        parentId: number === 0 ? "" : `c${number - 1}`,
        completionId: `chatcmpl-${number % (length / 2)}`,
        usage: prompt(1),
      }),
    );
    return tableOf(calls, new LlmDictionary());
  };

  it("count once", () => {
    const { totals } = rollUp(chainOf(2000), new LlmDictionary(), undefined);
    expect(totals.counts[totals.heads[0]! * COUNT_SLOTS + 1]).toBe(1000);
    expect(totals.counts[totals.heads[1500]! * COUNT_SLOTS + 1]).toBe(500);
  });

  it("are rejected in a made-up trace, because finding them takes O(length²) steps", () => {
    expect(() => rollUp(chainOf(15_000), new LlmDictionary(), undefined)).toThrow("too far apart");
  });
});

describe("rollUpSelected", () => {
  it.each([
    { inclusive: false, cycles: false },
    { inclusive: true, cycles: false },
    { inclusive: true, cycles: true },
    { inclusive: true, cycles: false, shared: true },
    { inclusive: true, cycles: false, elsewhere: true },
  ])("returns the same totals and unfinished calls of selected calls as for all: %o", (options) => {
    const rows = forest({ maxCalls: 25, ...options });
    const nth = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(rows, nth, (calls, every) => {
        const some = calls.map((one, number) => ({ ...one, selected: number % every === 0 && one.selected }));
        const names = new LlmDictionary();
        const table = tableOf(some, names);
        const [few, all] = [atOnce(rollUpSelected(table, names, costOf)), rollUp(table, names, costOf)];
        const parsed = (rolledUp: RolledUp): unknown => JSON.parse(`{${textOf(table, rolledUp, names)}}`);
        expect(parsed(few)).toEqual(parsed(all));
        const selected = some.filter(({ selected }) => selected).map(({ id }) => id);
        const [beside, besideAll] = [foldedOf(some, names, few), foldedOf(some, names, all)];
        expect(selected.map((id) => beside[id])).toEqual(selected.map((id) => besideAll[id]));
        expect(unfinishedIds(table, few).toSorted()).toEqual(unfinishedIds(table, all).toSorted());
      }),
      { numRuns: RUNS },
    );
  });

  it("keeps no entries of unselected calls", () => {
    const calls = Array.from({ length: 1000 }, (_, number) =>
      call(`c${number}`, { parentId: number === 0 ? "" : "c0", selected: number === 0, usage: prompt(1) }),
    );
    const names = new LlmDictionary();
    const { totals } = atOnce(rollUpSelected(tableOf(calls, names), names, undefined));
    expect(totals.length).toBe(1);
    expect(totals.counts[1]).toBe(1000);
  });

  it("folds a chain of 100,000 calls", () => {
    const calls = Array.from({ length: 100_000 }, (_, number) =>
      call(`c${number}`, {
        parentId: number === 99_999 ? "" : `c${number + 1}`,
        selected: number === 99_999,
        usage: prompt(1),
      }),
    );
    const names = new LlmDictionary();
    const { totals } = atOnce(rollUpSelected(tableOf(calls, names), names, undefined));
    expect(totals.counts[totals.heads[99_999]! * COUNT_SLOTS + 1]).toBe(100_000);
  });
});

describe("ownUsages", () => {
  it.each([
    { inclusive: true, cycles: false },
    { inclusive: false, cycles: true },
  ])("sum to the total of the trace: %o", (options) => {
    fc.assert(
      fc.property(forest({ maxCalls: 14, ...options, shared: true }), (rows) => {
        const names = new LlmDictionary();
        const tokens: Record<string, number> = {};
        for (const [, usages] of ownUsages({ calls: tableOf(rows, names), names }, () => true))
          for (const { llm, promptTokens } of usages) tokens[llm] = (tokens[llm] ?? 0) + promptTokens;
        const expected = mapValues(naiveTraceTotal(rows, naiveCostOf), ({ counts }) => counts[1]!);
        for (const llm of Object.keys({ ...tokens, ...expected }))
          expect(tokens[llm] ?? 0).toBe(expected[llm] ?? 0);
      }),
      { numRuns: RUNS * 3 },
    );
  });
});

describe("writeUnfinished", () => {
  it.each([0, 1, 2048, 2049, 10_000])("writes %d ids as JSON does", (count) => {
    const ids = Array.from({ length: count }, (_, number) => `id "${number}"\u2028`);
    const pieces = Array.from(
      writeUnfinished(ids, { writer: new ByteWriter(), chunkBytes: 20_000 }),
      (piece) => piece.toString("latin1"),
    );
    const text = Buffer.from(pieces.join(""), "latin1").toString();
    expect(text).toBe(`},"unfinished_call_ids":${JSON.stringify(ids)}}`);
  });
});

describe("unfinishedIds", () => {
  it("lists unfinished calls among the selected ones and their descendants", () => {
    fc.assert(
      fc.property(forest({ maxCalls: 20, inclusive: false, cycles: true }), (calls) => {
        const names = new LlmDictionary();
        const table = tableOf(calls, names);
        const rolledUp = rollUp(table, names, undefined);
        const isBelowSelected = (one: CallRow): boolean => {
          const seen = new Set<string>();
          for (let at: CallRow | undefined = one; at !== undefined && !seen.has(at.id);) {
            if (at.selected) return true;
            seen.add(at.id);
            const { id, parentId }: CallRow = at;
            at = parentId === id ? undefined : calls.find((other) => other.id === parentId);
          }
          return false;
        };
        const expected = calls.filter((one) => !one.finished && isBelowSelected(one)).map((one) => one.id);
        expect(unfinishedIds(table, rolledUp).toSorted()).toEqual(expected.sort());
      }),
      { numRuns: RUNS },
    );
  });
});
