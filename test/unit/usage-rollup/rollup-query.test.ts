import { describe, expect, it } from "vitest";
import { rollupQueryOf } from "../../../src/usage-rollup/rollup-query.ts";

const base = { filter: undefined, query: undefined, fields: [], latencies: "none" } as const;

describe("a query the usage rollup can serve", () => {
  it.each([
    ["all calls", {}],
    ["groups by names of calls", { fields: ["op_name", "trace_id", "api_key", "status"] }],
    ["filters by names", { filter: { op_names: ["a"], svc_user_ids: ["b"], trace_roots_only: true } }],
    ["empty filters", { filter: { call_ids: null, trace_roots_only: false } }],
  ])("is %s", (_, more) => {
    expect(rollupQueryOf({ ...base, ...more })).toBeDefined();
  });

  it.each([
    ["a query", { query: { $expr: { $eq: [1, 1] } } }],
    ["groups by other fields", { fields: ["op_name", "attributes.tenant"] }],
    ["filters by ids", { filter: { call_ids: ["a"] } }],
    // a record stores '' for an absent value
    ["filters by an empty name", { filter: { svc_user_ids: [""] } }],
  ])("is not %s", (_, more) => {
    expect(rollupQueryOf({ ...base, ...more })).toBeUndefined();
  });

  it("has a condition only if a filter selects", () => {
    expect(rollupQueryOf(base)!.condition).toBeUndefined();
    expect(rollupQueryOf({ ...base, filter: { op_names: ["a"] } })!.condition).toBeDefined();
  });
});
