import { describe, expect, it } from "vitest";
import { Groups } from "../../../src/stats/sums/groups.ts";
import { orders } from "../../../src/stats/plan/order.ts";

const NOBODY = { llm: null, provider: null };

describe("groups", () => {
  it("are the same for equal values, in any notation", () => {
    const groups = new Groups([{ label: "op_name", source: "call", field: "op_name" }]);
    expect(groups.numberOf('"\\u0061"', NOBODY)).toBe(groups.numberOf('"a"', NOBODY));
    expect(groups.numberOf('"b"', NOBODY)).not.toBe(groups.numberOf('"a"', NOBODY));
  });
});

describe("the order of groups", () => {
  it("can be that of a requested latency", () => {
    const latency = { aggregations: ["max" as const], percentiles: [95] };
    expect([...orders({ of: "calls", include_costs: false, latency }).keys()].slice(-2)).toEqual([
      "latency_ms.max",
      "latency_ms.p95",
    ]);
  });
});
