import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const PROJECT = "acme/bounds";
const DAY = { start: "2026-03-01T00:00:00Z", end: "2026-03-02T00:00:00Z" };

let test: TestApp;

function call(id: string, hour: number, llm: string, more: object = {}): object {
  const at = `2026-03-01T${String(hour).padStart(2, "0")}:00:00Z`;
  return {
    project_id: PROJECT,
    id,
    trace_id: "t",
    parent_id: id === "root" ? null : "root",
    op_name: id,
    started_at: at,
    ended_at: at,
    attributes: {},
    inputs: {},
    summary: { usage: { [llm]: { requests: 1, prompt_tokens: 1000, completion_tokens: 0, ...more } } },
  };
}

describe("costs that omit something", () => {
  beforeAll(async () => {
    test = await startApp();
    const batch = [
      call("root", 1, "gpt-4o", { server_tool_use: { web_search_requests: 2 } }),
      // the same model, before it had a price and after it
      call("early", 2, "our-own"),
      call("late", 20, "our-own"),
      // a unit without a price beside tokens with one
      call("searches", 21, "acme-search", { server_tool_use: { web_search_requests: 3 } }),
    ];
    await test.post(`/v2/${PROJECT}/calls/complete`, { batch });
    const price = {
      prompt_token_cost: 0.001,
      completion_token_cost: 0,
      effective_date: "2026-03-01T12:00:00Z",
    };
    const from = { ...price, effective_date: "2026-01-01T00:00:00Z" };
    await test.post("/cost/create", {
      project_id: PROJECT,
      costs: { "our-own": price, "acme-search": from },
    });
  });
  afterAll(() => test.close());

  it("are marked in every total of usage over time: of groups, of buckets, of other groups, of all", async () => {
    const body = { project_id: PROJECT, ...DAY, granularity: 43_200, group_by: ["llm"], include_costs: true };
    const stats = (await test.post("/usage/stats", body)).json();
    const partialOf = (totals: readonly ({ partial: boolean } | null)[]): readonly (boolean | null)[] =>
      totals.map((total) => total && total.partial);
    const groups = Object.fromEntries(
      stats.groups.map(({ key, total }: { key: { llm: string }; total: object }) => [key.llm, total]),
    );
    expect(groups).toMatchObject({
      "our-own": { total_cost: 1, partial: true },
      "acme-search": { total_cost: 1, other_cost: null, partial: true },
      "gpt-4o": { partial: false },
    });
    expect(stats.total.partial).toBe(true);
    expect(partialOf(stats.buckets.map(({ total }: { total: never }) => total))).toEqual([true, true]);
    const names = stats.groups.map(({ key }: { key: { llm: string } }) => key.llm);
    const ofGroup = (llm: string) =>
      partialOf(stats.buckets.map((bucket: { groups: never[] }) => bucket.groups[names.indexOf(llm)]));
    expect(ofGroup("our-own")).toEqual([true, false]);
    expect(ofGroup("acme-search")).toEqual([null, true]);
    expect(ofGroup("gpt-4o")).toEqual([false, null]);
    const first = (await test.post("/usage/stats", { ...body, order_by: "other_cost", limit: 1 })).json();
    expect(first.groups).toMatchObject([{ key: { llm: "gpt-4o" }, total: { partial: false } }]);
    expect(first.other).toMatchObject({ groups: 2, total: { partial: true } });
    expect(partialOf(first.buckets.map(({ other }: { other: never }) => other))).toEqual([true, true]);
    const without = (await test.post("/usage/stats", { ...body, include_costs: false, limit: 1 })).json();
    expect(JSON.stringify(without)).not.toContain('"partial"');
  });

  it("are marked for a call with its descendants, whose entries sum to its receipt", async () => {
    const asked = { project_id: PROJECT, filter: { call_ids: ["root"] }, include_costs: true };
    const plain = (await test.post("/trace/usage", asked)).json().call_usage.root;
    expect(Object.keys(plain["our-own"])).toHaveLength(10);
    const full = (await test.post("/trace/usage", { ...asked, full_costs: true })).json().call_usage.root;
    expect(full["our-own"]).toMatchObject({ prompt_tokens_total_cost: 1, partial: true });
    expect(full["acme-search"]).toMatchObject({
      prompt_tokens_total_cost: 1,
      other_cost: null,
      partial: true,
    });
    const { total } = (
      await test.post("/call/receipt", { project_id: PROJECT, trace_id: "t", call_id: "root" })
    ).json();
    const sum = Object.values<Record<string, number | null>>(full)
      .flatMap((entry) => Object.entries(entry).filter(([name]) => name.endsWith("_cost")))
      .reduce((all, [, usd]) => all + (usd ?? 0), 0);
    expect(sum).toBeCloseTo(total.total_cost, 12);
    const alone = { project_id: PROJECT, call_ids: ["late"], include_costs: true, full_costs: true };
    const late = (await test.post("/calls/usage", alone)).json().call_usage.late["our-own"];
    expect(late).toMatchObject({ other_cost: 0, partial: false });
  });
});
