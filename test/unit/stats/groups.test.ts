import { describe, expect, it } from "vitest";
import { Cells } from "../../../src/stats/sums/cells.ts";
import { Groups } from "../../../src/stats/sums/groups.ts";
import { orderOf, orders } from "../../../src/stats/plan/order.ts";

const NOBODY = { llm: null, provider: null };

describe("groups", () => {
  it("have an object of JSON as their key, with scalars as they are and others as text", () => {
    const groups = new Groups([
      { label: "llm", source: "llm", field: "" },
      { label: "attributes.tenant", source: "call", field: "attributes.tenant" },
    ]);
    const keyOf = (lines: string): unknown =>
      JSON.parse(groups.keys[groups.numberOf(lines, { llm: 'g"pt', provider: null })]!);
    expect(keyOf('"a"')).toEqual({ llm: 'g"pt', "attributes.tenant": "a" });
    expect(keyOf("7")).toEqual({ llm: 'g"pt', "attributes.tenant": 7 });
    expect(keyOf("")).toEqual({ llm: 'g"pt', "attributes.tenant": null });
    expect(keyOf("null")).toEqual({ llm: 'g"pt', "attributes.tenant": null });
    expect(keyOf('{"n":1}')).toEqual({ llm: 'g"pt', "attributes.tenant": '{"n":1}' });
  });

  it("are the same for equal values, however these are escaped", () => {
    const groups = new Groups([{ label: "op_name", source: "call", field: "op_name" }]);
    expect(groups.numberOf('"\\u0061"', NOBODY)).toBe(groups.numberOf('"a"', NOBODY));
    expect(groups.numberOf('"b"', NOBODY)).not.toBe(groups.numberOf('"a"', NOBODY));
  });
});

describe("cells", () => {
  it("are made once for each group and bucket, and not more than allowed", () => {
    const cells = new Cells({ buckets: 3, maxCells: 2, withCosts: false, latencies: undefined });
    const first = cells.at(1, 2);
    expect(cells.at(0, 1)).not.toBe(first);
    expect(cells.at(1, 2)).toBe(first);
    expect([cells.groupOf[first], cells.bucketOf[first]]).toEqual([1, 2]);
    expect(cells.find(2, 0)).toBeUndefined();
    expect(() => cells.at(2, 0)).toThrow("more than 2 groups in buckets");
  });
});

describe("the order of groups", () => {
  it("is by what they cost, or by their tokens where costs are not asked for", () => {
    expect(orderOf({ include_costs: true })).toEqual(orders({ include_costs: true }).get("total_cost"));
    expect(orderOf({ include_costs: false })).toEqual(orders({ include_costs: false }).get("total_tokens"));
    expect(orders({ include_costs: false }).has("total_cost")).toBe(false);
  });

  it("can be that of a latency that is asked for", () => {
    const latency = { aggregations: ["max" as const], percentiles: [95] };
    expect([...orders({ include_costs: false, latency }).keys()].slice(-2)).toEqual([
      "latency_ms.max",
      "latency_ms.p95",
    ]);
  });
});
