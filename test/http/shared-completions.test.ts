import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const A = "chatcmpl-AbC0dEf1GhI2jKl3MnO4pQr5StU6V";

interface Draft {
  readonly id: string;
  readonly parent?: string;
  readonly completion?: string;
  readonly prompt?: number;
  readonly llm?: string;
  readonly attributes?: object;
  /** Seconds. */
  readonly from?: number;
  readonly to?: number | null;
}

const BEGAN = Date.UTC(2026, 0, 1);
const instant = (seconds: number): string => new Date(BEGAN + seconds * 1000).toISOString();

function message({
  id,
  parent,
  completion,
  prompt,
  llm = "gpt-4o",
  attributes = {},
  from = 0,
  to = 9,
}: Draft) {
  return {
    id,
    trace_id: "t",
    parent_id: parent ?? null,
    op_name: "op",
    started_at: instant(from),
    ended_at: to === null ? null : instant(to),
    inputs: {},
    attributes,
    output: completion === undefined ? null : { id: completion, model: llm, choices: [] },
    summary: prompt === undefined ? {} : { usage: { [llm]: { requests: 1, prompt_tokens: prompt } } },
  };
}

let projects = 0;
async function stored(...calls: Draft[]): Promise<string> {
  const project_id = `acme/shared-${++projects}`;
  const response = await test.post(`/v2/${project_id}/calls/complete`, { batch: calls.map(message) });
  expect(response.json()).toEqual({ rejected: [] });
  return project_id;
}

/** Prompt tokens of each call of the answer, over all LLMs. */
async function promptsOf(project_id: string, more: object = {}): Promise<Record<string, number>> {
  const response = await test.post("/trace/usage", { project_id, ...more });
  const usage = response.json().call_usage as Record<string, Record<string, { prompt_tokens: number }>>;
  return Object.fromEntries(
    Object.entries(usage).map(([id, perLlm]) => [
      id,
      Object.values(perLlm).reduce((sum, entry) => sum + entry.prompt_tokens, 0),
    ]),
  );
}

describe("a completion that several calls report counts once", () => {
  it("for siblings, each of which shows its usage separately", async () => {
    const project = await stored(
      { id: "root" },
      { id: "sdk", parent: "root", completion: A, prompt: 10 },
      { id: "seen", parent: "root", completion: A, prompt: 10 },
    );
    expect(await promptsOf(project)).toEqual({ root: 10, sdk: 10, seen: 10 });
  });

  it("under the LLM of the counted record, with its costs, and without an entry of the other one", async () => {
    const project = await stored(
      { id: "root" },
      { id: "shallow", parent: "root", completion: A, prompt: 10, llm: "nobody-knows-me" },
      { id: "between", parent: "root" },
      { id: "deep", parent: "between", completion: A, prompt: 1000, llm: "gpt-4o" },
    );
    const response = await test.post("/trace/usage", { project_id: project, include_costs: true });
    const { root, shallow } = response.json().call_usage;
    expect(Object.keys(root)).toEqual(["gpt-4o"]);
    expect(root["gpt-4o"]).toMatchObject({ prompt_tokens: 1000, prompt_tokens_total_cost: 0.0025 });
    expect(shallow["nobody-knows-me"]).toMatchObject({ prompt_tokens: 10, prompt_tokens_total_cost: null });
  });

  it("by the remaining records if one is deleted, or another arrives late", async () => {
    const project = await stored(
      { id: "root" },
      { id: "a", parent: "root", completion: A, prompt: 10, from: 1 },
      { id: "b", parent: "root", completion: A, prompt: 11, from: 2 },
    );
    await test.post("/calls/delete", { project_id: project, call_ids: ["a"] });
    expect(await promptsOf(project)).toEqual({ root: 11, b: 11 });
    // the end of a call is there before its start
    const { id, ended_at, output, summary } = message({ id: "c", completion: A, prompt: 12, to: 3 });
    await test.post("/call/end", { end: { project_id: project, id, ended_at, output, summary } });
    expect(await promptsOf(project)).toEqual({ root: 11, b: 11 });
    const start = { ...message({ id: "c", parent: "b", from: 1 }), project_id: project };
    await test.post("/call/start", { start });
    expect(await promptsOf(project)).toEqual({ root: 12, b: 12, c: 12 });
  });
});

describe("own_only", () => {
  const weave = { weave: { source: "js-sdk" } };
  const calls: readonly Draft[] = [
    { id: "root" },
    { id: "wrapper", parent: "root", prompt: 35, attributes: weave },
    { id: "inner", parent: "wrapper", prompt: 20, attributes: weave },
    { id: "left", parent: "root", completion: A, prompt: 10 },
    { id: "right", parent: "root" },
    { id: "seen", parent: "right", completion: A, prompt: 10 },
    { id: "unknown", parent: "right", prompt: 7, llm: "nobody-knows-me" },
  ];

  it("is the usage that each call adds to its trace; the sum is that of its roots", async () => {
    const project_id = await stored(...calls);
    const own = await promptsOf(project_id, { own_only: true });
    expect(own).toEqual({ root: 0, wrapper: 15, inner: 20, left: 0, right: 0, seen: 10, unknown: 7 });
    expect(await promptsOf(project_id, { filter: { trace_roots_only: true } })).toEqual({
      root: Object.values(own).reduce((sum, prompts) => sum + prompts, 0),
    });
    expect(await promptsOf(project_id, { own_only: true, filter: { call_ids: ["wrapper"] } })).toEqual({
      wrapper: 15,
    });
    const byIds = await test.post("/calls/usage", { project_id, call_ids: ["root", "left"], own_only: true });
    expect(byIds.json()).toEqual({ call_usage: { root: {}, left: {} }, unfinished_call_ids: [] });
  });

  it("has the costs of /usage/stats for each call", async () => {
    const project_id = await stored(...calls);
    const alone = await test.post("/trace/usage", { project_id, own_only: true, include_costs: true });
    const usage = alone.json().call_usage as Record<string, Record<string, Record<string, number | null>>>;
    for (const { id } of calls) {
      const { total } = (
        await test.post("/usage/stats", {
          project_id,
          start: instant(-1),
          end: instant(10),
          filter: { call_ids: [id] },
          include_costs: true,
        })
      ).json();
      const entries = Object.values(usage[id]!);
      for (const name of ["requests", "prompt_tokens", "total_tokens"])
        expect(entries.reduce((sum, entry) => sum + entry[name]!, 0)).toBe(total[name]);
      const costs = entries.map((entry) => entry["prompt_tokens_total_cost"]!);
      expect(costs.length === 0 ? 0 : (costs[0] ?? null)).toBe(total.prompt_tokens_total_cost);
    }
  });

  it("reports whether a call has ended, not its descendants", async () => {
    const project_id = await stored({ id: "root" }, { id: "child", parent: "root", to: null });
    const roots = { project_id, filter: { call_ids: ["root"] } };
    expect((await test.post("/trace/usage", roots)).json().unfinished_call_ids).toEqual(["child"]);
    expect(
      (await test.post("/trace/usage", { ...roots, own_only: true })).json().unfinished_call_ids,
    ).toEqual([]);
  });
});
