import { describe, expect, it } from "vitest";
import { readQuery } from "../../../web/state/query.ts";
import { whichOf } from "../../../web/traces/which-traces.ts";

describe("the query for a list of traces", () => {
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

  it("searches words and conditions in any call, and sums in the whole trace", () => {
    expect(asked("parcel status:failed cost>0.1 cost<=2 user:ana model:gpt-4o latency>11s")).toEqual({
      any: [{ text: "parcel" }, { status: ["error"] }, { svc_user_ids: ["ana"] }, { models: ["gpt-4o"] }],
      totals: { total_cost: { gt: 0.1, lte: 2 }, latency_ms: { gt: 11_000 } },
    });
  });

  it("selects a failed call of an operation if both are named, and no failed call if negated", () => {
    expect(asked("op:search status:failed")).toEqual({ any: [{ op_names: ["search"], status: ["error"] }] });
    expect(asked("-status:failed")).toEqual({ totals: { errors: { lte: 0 } } });
    expect(asked("status:success")).toEqual({ totals: { errors: { lte: 0 }, unfinished: { lte: 0 } } });
    expect(asked("trace:t1")).toEqual({ filter: { trace_ids: ["t1"] } });
  });

  it("applies to the root if something else is negated", () => {
    expect(asked("-user:ana")).toEqual({
      query: {
        $expr: { $and: [{ $not: [{ $eq: [{ $getField: "svc_user_id" }, { $literal: "ana" }] }] }] },
      },
    });
  });
});
