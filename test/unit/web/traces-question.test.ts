import { describe, expect, it } from "vitest";
import { compileQuery } from "../../../src/query/compile.ts";
import type { Project } from "../../../src/shared/project.ts";
import { readQuery } from "../../../web/state/query.ts";
import { conditionsOf } from "../../../web/state/select-traces.ts";

it.each([
  "word",
  "status:failed",
  "status:running",
  "status:success",
  "op:search",
  "name:search",
  "model:gpt-4.1",
  "model:none",
  "user:none",
  "id:c1",
  "error:timeout",
  "latency>11s",
  "inputs.a:x",
  "-inputs.a>2",
])("%j alone is a query of the service, over calls and traces", (text) => {
  const { operand, ...rest } = readQuery(text, "traces");
  const { query, any_call } = conditionsOf({ operand, ...rest });
  for (const asked of [{ $expr: operand }, query ?? any_call?.query])
    expect(() => compileQuery(asked, { project: "acme/app" as Project })).not.toThrow();
});

describe("the query for a list of traces", () => {
  const asked = (text: string) => conditionsOf(readQuery(text, "traces"));
  const get = ($getField: string) => ({ $getField });
  const isNull = (field: string) => ({ $eq: [get(field), { $literal: null }] });
  const contains = (field: string, $literal: string) => ({
    $contains: { input: get(field), substr: { $literal }, case_insensitive: true },
  });

  it("searches for one call with all words and conditions", () => {
    expect(asked("parcel status:failed user:ana model:gpt-4.1 trace:t1")).toEqual({
      filter: { trace_ids: ["t1"] },
      any_call: {
        filter: { svc_user_ids: ["ana"] },
        query: {
          $expr: {
            $and: [
              {
                $or: [
                  contains("inputs", "parcel"),
                  contains("output", "parcel"),
                  contains("exception", "parcel"),
                ],
              },
              { $not: [isNull("exception")] },
              {
                $eq: [
                  { $convert: { input: get(String.raw`summary.usage.gpt-4\.1`), to: "exists" } },
                  { $literal: true },
                ],
              },
            ],
          },
        },
      },
    });
    expect(asked("status:running")).toEqual({ any_call: { query: { $expr: isNull("ended_at") } } });
    // no call has two users
    expect(asked("user:ana user:ben")).toEqual({
      any_call: {
        filter: { svc_user_ids: ["ana"] },
        query: { $expr: { $eq: [get("svc_user_id"), { $literal: "ben" }] } },
      },
    });
  });

  it("applies negated conditions, the latency and success to the root", () => {
    expect(asked("-user:ana -status:running latency>11s")).toEqual({
      query: {
        $expr: {
          $and: [
            { $not: [{ $eq: [get("svc_user_id"), { $literal: "ana" }] }] },
            { $not: [isNull("ended_at")] },
            { $gt: [get("summary.weave.latency_ms"), { $literal: 11_000 }] },
          ],
        },
      },
    });
    expect(asked("status:success")).toEqual({
      query: { $expr: { $and: [isNull("exception"), { $not: [isNull("ended_at")] }] } },
    });
  });

  it("compares sums of whole traces, beside conditions on a call", () => {
    expect(asked("cost>0.1 cost>0.05 cost<=2 calls>=10 user:ana")).toEqual({
      totals: { total_cost: { gt: 0.1, lte: 2 }, calls: { gte: 10 } },
      any_call: { filter: { svc_user_ids: ["ana"] } },
    });
    expect(asked("failed>0 tokens<1000 wasted>0")).toEqual({
      totals: { failed: { gt: 0 }, total_tokens: { lt: 1000 }, wasted_cost: { gt: 0 } },
    });
  });

  it("takes a query in JSON, of any call", () => {
    expect(asked(JSON.stringify({ $expr: isNull("turn_id") }))).toEqual({
      any_call: { query: { $expr: isNull("turn_id") } },
    });
    expect(asked("")).toEqual({});
  });
});
