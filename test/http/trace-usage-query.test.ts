import { afterAll, beforeAll, describe, expect, it } from "vitest";
import vectors from "../fixtures/vectors/query.json" with { type: "json" };
import { startApp, type TestApp } from "../helpers/start-app.ts";
import type { StoredCall } from "../helpers/stored-calls.ts";

interface QueryCase {
  readonly name: string;
  readonly filter?: unknown;
  readonly query?: unknown;
  readonly limit?: number;
  readonly expect_ids: readonly string[];
  readonly expect_unfinished?: readonly string[];
  readonly expect_error?: number;
}

let test: TestApp;
beforeAll(async () => {
  // One vector is of a server that takes lists of 1,000.
  test = await startApp({ settings: { MAX_FILTER_MEMBERS: "1000" } });
  for (const [project, calls] of Map.groupBy(vectors.calls, (call) => call.project_id)) {
    const batch = calls.map(message);
    const answer = await test.post(`/v2/${project}/calls/complete`, { batch });
    expect(answer.json()).toEqual({ rejected: [] });
    const deleted = calls.filter((call) => call.deleted_at !== null).map((call) => call.id);
    await test.post("/calls/delete", { project_id: project, call_ids: deleted });
  }
});
afterAll(() => test.close());

/** As an SDK would send it. The store finds the refs in the payloads by itself. */
function message({
  svc_user_id,
  svc_run_id,
  svc_run_step,
  input_refs: _in,
  output_refs: _out,
  ...call
}: StoredCall) {
  return { ...call, wb_user_id: svc_user_id, wb_run_id: svc_run_id, wb_run_step: svc_run_step };
}

describe("POST /trace/usage with filter and query", () => {
  it.each(vectors.cases as readonly QueryCase[])("$name", async (item) => {
    const { filter, query, limit } = item;
    const answer = await test.post("/trace/usage", { project_id: "acme/demo", filter, query, limit });
    expect(answer.status).toBe(item.expect_error ?? 200);
    if (item.expect_error !== undefined) {
      const { detail } = answer.json() as { detail: { loc: unknown[] }[] };
      expect(detail.length).toBeGreaterThan(0);
      expect(["filter", "query"]).toContain(detail[0]!.loc[1]);
      return;
    }
    const body = answer.json() as { call_usage: object; unfinished_call_ids: readonly string[] };
    expect(Object.keys(body.call_usage).toSorted()).toEqual(item.expect_ids.toSorted());
    if (item.expect_unfinished !== undefined)
      expect(body.unfinished_call_ids).toEqual(item.expect_unfinished);
  });

  it("tells every issue of filter and query at once, with their paths", async () => {
    const answer = await test.post("/trace/usage", {
      project_id: "acme/demo",
      filter: { op_name: [], call_ids: "a1" },
      query: {
        $expr: { $and: [{ $eq: [{ $getField: "inputz.x" }] }, { $gte: [{ $getField: "started_at" }] }] },
      },
      limit: 0,
    });
    expect(answer.status).toBe(422);
    const { detail } = answer.json() as { detail: { loc: unknown[]; msg: string; type: string }[] };
    expect(
      detail.map(({ loc, type }) => `${loc.join(".")}: ${type}`).toSorted((a, b) => (a < b ? -1 : 1)),
    ).toEqual([
      "body.filter.call_ids: list_type",
      "body.filter.op_name: extra_forbidden",
      "body.limit: greater_than_equal",
      "body.query.$expr.$and.0.$eq.0.$getField: unknown_field",
      "body.query.$expr.$and.0.$eq: too_short",
      "body.query.$expr.$and.1.$gte: too_short",
    ]);
    expect(detail.find((issue) => issue.type === "unknown_field")?.msg).toContain("Did you mean inputs");
  });
});
