import { describe, expect, it } from "vitest";
import { rollupQueryOf } from "../../../src/usage-rollup/rollup-query.ts";

const asked = { filter: undefined, query: undefined, fields: [], latencies: "none" } as const;

describe("what the ledger can tell", () => {
  it.each([
    ["all calls", {}],
    ["groups by names of calls", { fields: ["op_name", "trace_id", "api_key", "status"] }],
    ["filters by names", { filter: { op_names: ["a"], svc_user_ids: ["b"], trace_roots_only: true } }],
    ["filters that say nothing", { filter: { call_ids: null, trace_roots_only: false } }],
  ])("is %s", (_, more) => {
    expect(rollupQueryOf({ ...asked, ...more })).toBeDefined();
  });

  it.each([
    ["a query", { query: { $expr: { $eq: [1, 1] } } }],
    ["groups by other fields", { fields: ["op_name", "attributes.tenant"] }],
    ["filters by ids", { filter: { call_ids: ["a"] } }],
    // '' stands for what is absent there
    ["filters by an empty name", { filter: { svc_user_ids: [""] } }],
  ])("is not %s", (_, more) => {
    expect(rollupQueryOf({ ...asked, ...more })).toBeUndefined();
  });

  it("has a condition only where a filter says something", () => {
    expect(rollupQueryOf(asked)!.condition).toBeUndefined();
    expect(rollupQueryOf({ ...asked, filter: { op_names: ["a"] } })!.condition).toBeDefined();
  });
});
