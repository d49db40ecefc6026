import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLUMN_NAMES, readLayout, widthOf, withShown, withWidth } from "../../../web/traces/columns.ts";
import { readQuery } from "../../../web/state/query.ts";
import { firstText } from "../../../web/traces/first-text.ts";
import { whichOf } from "../../../web/traces/which-traces.ts";
import { colorsOf } from "../../../web/usage/colors.ts";
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

describe("colours", () => {
  it("belong to names: neither rank nor other names change them, as long as they are free", () => {
    const known = new Map<string, number>();
    const first = colorsOf(["a", "b", "c"], known);
    const again = colorsOf(["c", "d", "a"], known);
    expect(again.get("a")).toBe(first.get("a"));
    expect(again.get("c")).toBe(first.get("c"));
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), fc.func(fc.nat()), (names, order) => {
        const colors = colorsOf(names, new Map());
        expect(new Set(colors.values()).size).toBe(Math.min(names.length, 8));
        if (names.length > 8) return;
        const shuffled = names.toSorted((a, b) => order(a) - order(b));
        expect(new Map(colorsOf(shuffled, new Map()))).toEqual(new Map(colors));
      }),
      { seed },
    );
  });
});

describe("the question for a list of traces", () => {
  const asked = (text: string) => {
    const {
      project_id: _project,
      start: _start,
      ...rest
    } = whichOf({
      project: "acme/app",
      window: { fromMs: 0, toMs: undefined },
      query: readQuery(text, "traces"),
    });
    return rest;
  };

  it("looks for words and conditions in any call, for sums in the whole trace", () => {
    expect(asked("parcel status:failed cost>0.1 cost<=2 user:ana model:gpt-4o latency>11s")).toEqual({
      any: [{ text: "parcel" }, { status: ["error"] }, { svc_user_ids: ["ana"] }, { models: ["gpt-4o"] }],
      totals: { total_cost: { gt: 0.1, lte: 2 }, latency_ms: { gt: 11_000 } },
    });
  });

  it("means a failed call of an operation where both are named, and no failed call where it is denied", () => {
    expect(asked("op:search status:failed")).toEqual({ any: [{ op_names: ["search"], status: ["error"] }] });
    expect(asked("-status:failed")).toEqual({ totals: { errors: { lte: 0 } } });
    expect(asked("status:success")).toEqual({ totals: { errors: { lte: 0 }, unfinished: { lte: 0 } } });
    expect(asked("trace:t1")).toEqual({ filter: { trace_ids: ["t1"] } });
  });

  it("is of the root where something else is denied", () => {
    expect(asked("-user:ana")).toEqual({
      query: {
        $expr: { $and: [{ $not: [{ $eq: [{ $getField: "svc_user_id" }, { $literal: "ana" }] }] }] },
      },
    });
  });
});

describe("the first text of inputs", () => {
  it.each([
    ['{"messages":[{"role":"user","content":"Where is\\nmy parcel?"}]}', "Where is my parcel?"],
    ['{"question":"Wh', "Wh"],
    ['{"n":1,"topic":"batteries \\u00e9"}', "batteries é"],
    ['{"a":"b\\u00', "b"],
    ["{}", ""],
  ])("of %s is %j", (inputs, text) => {
    expect(firstText(inputs)).toBe(text);
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
