import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NOTHING } from "../../../web/numbers/usage.ts";
import { COLUMN_NAMES, readLayout, widthOf, withShown, withWidth } from "../../../web/traces/columns.ts";
import { isWanted, printCostFilter, readCostFilter } from "../../../web/traces/cost-filter.ts";
import type { UsageStats } from "../../../web/api/routes.ts";
import { layersOf, lineLayersOf } from "../../../web/usage/stack.ts";
import { printGroups, readGroups } from "../../../web/usage/groups.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const seed = chosenSeed();

describe("lines of usage", () => {
  it("are at 0 where a group has no calls, and have a gap where its cost is not known", () => {
    const total = (total_cost: number | null) => ({ total_cost }) as UsageStats["total"];
    const group = (llm: string) => ({ key: { llm }, total: total(1) });
    const bucket = (groups: (UsageStats["total"] | null)[]) => ({
      timestamp: "2026-01-01T00:00:00.000Z",
      total: total(1),
      groups,
      other: null,
    });
    const stats = {
      groups: [group("a"), group("b")],
      other: null,
      buckets: [bucket([total(1), null]), bucket([null, total(null)])],
    } as unknown as UsageStats;
    expect(lineLayersOf(stats, "total_cost").map(({ values }) => values)).toEqual([
      [1, 0],
      [0, null],
    ]);
    expect(layersOf(stats, "total_cost").map(({ values }) => values)).toEqual([
      [1, null],
      [null, null],
    ]);
  });
});

describe("a condition on the cost", () => {
  it("is read as it was printed", () => {
    const filters = fc.record({
      op: fc.constantFrom(">" as const, "≥" as const, "<" as const, "≤" as const),
      usd: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
    });
    fc.assert(
      fc.property(filters, (filter) => {
        expect(readCostFilter(printCostFilter(filter))).toEqual(filter);
      }),
      { seed },
    );
  });

  it.each([undefined, "", "0.1", "=1", ">", "> ", "≥much", "<Infinity"])("is none: %j", (text) => {
    expect(readCostFilter(text)).toBeUndefined();
  });

  it("leaves out what is not known, and takes what is known in part for at least that", () => {
    const known = { ...NOTHING, usd: 1 };
    const inPart = { ...known, unpriced: ["acme-7b"] };
    const unknown = { ...inPart, usd: null };
    const wanted = (text: string) =>
      [known, inPart, unknown].map((total) => isWanted(readCostFilter(text), total));
    expect(wanted(">0.5")).toEqual([true, true, false]);
    expect(wanted("≥1")).toEqual([true, true, false]);
    expect(wanted(">1")).toEqual([false, false, false]);
    expect(wanted("<2")).toEqual([true, false, false]);
    expect(wanted("≤0.5")).toEqual([false, false, false]);
    expect(isWanted(undefined, unknown)).toBe(true);
  });
});

describe("the columns", () => {
  it("come as they were kept, whatever was kept", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        const layout = readLayout(text);
        for (const column of COLUMN_NAMES) expect(widthOf(layout, column)).toBeGreaterThanOrEqual(32);
        expect(readLayout(JSON.stringify(layout))).toEqual(layout);
      }),
      { seed },
    );
    const chosen = withShown(withWidth(readLayout(null), "user", 900), "share", false);
    expect(readLayout(JSON.stringify(chosen))).toEqual({ hidden: ["share"], px: { user: 600 } });
    expect(withShown(chosen, "share", true).hidden).toEqual([]);
  });
});

describe("groups", () => {
  it("are as many as the route takes, each once; none is a choice as well", () => {
    expect(readGroups(undefined)).toEqual(["llm"]);
    expect(readGroups("a,b,a,,c,d,e")).toEqual(["a", "b", "c", "d"]);
    for (const groups of [[], ["llm"], ["op_name", "attributes.tenant"]])
      expect(readGroups(printGroups(groups))).toEqual(groups);
  });
});
