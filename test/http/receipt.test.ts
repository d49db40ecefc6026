import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const project_id = "acme/receipts";
const at = "2026-11-01T00:00:00Z";
const id = "chatcmpl-AbC0dEf1GhI2";

async function store(calls: readonly object[]): Promise<void> {
  const batch = calls.map((call) => ({
    project_id,
    op_name: "ask",
    started_at: at,
    ended_at: at,
    inputs: {},
    attributes: {},
    output: null,
    summary: {},
    ...call,
  }));
  const stored = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(stored.json(), stored.text).toEqual({ rejected: [] });
}

const receipt = async (call_id: string, more: object = {}) =>
  test.post("/call/receipt", { project_id, call_id, ...more });

describe("POST /call/receipt", () => {
  it("has a line for each unit with its price, for each convention of cached tokens", async () => {
    await store([
      {
        id: "anthropic",
        trace_id: "a",
        summary: {
          usage: {
            "claude-sonnet-4-5": {
              input_tokens: 1000,
              output_tokens: 100,
              cache_read_input_tokens: 2000,
              cache_creation_input_tokens: 10_000,
              cache_creation: { ephemeral_1h_input_tokens: 10_000 },
              server_tool_use: { web_search_requests: 3 },
            },
          },
        },
      },
      {
        id: "openai",
        trace_id: "b",
        summary: {
          usage: {
            "gpt-5": {
              prompt_tokens: 1000,
              completion_tokens: 100,
              prompt_tokens_details: { cached_tokens: 400 },
              service_tier: "flex",
            },
          },
        },
      },
    ]);
    const anthropic = (await receipt("anthropic")).json();
    expect(anthropic.usage[0].cache_convention).toBe("cached tokens are beside the prompt");
    const price = {
      source: expect.stringMatching(/^genai-prices /),
      id: "anthropic/claude-sonnet-4-5",
      effective_date: null,
    };
    const line = { of: "own", llm: "claude-sonnet-4-5", provider: null, price, tier: "standard" };
    // USD per million: 3, 15, 0.30 for reads, 6 for an hour's writes; 10 per thousand searches
    expect(anthropic.lines).toMatchObject([
      { ...line, unit: "uncached_prompt_tokens", quantity: 1000, rate_usd: 0.000_003, amount_usd: 0.003 },
      { ...line, unit: "completion_tokens", quantity: 100, rate_usd: 0.000_015, amount_usd: 0.0015 },
      { ...line, unit: "cache_read_input_tokens", quantity: 2000, amount_usd: 0.0006 },
      { ...line, unit: "cache_write_1h_tokens", quantity: 10_000, amount_usd: 0.06 },
      { ...line, unit: "web_searches", quantity: 3, rate_usd: 0.01, amount_usd: 0.03, cost: "other_cost" },
    ]);
    expect(anthropic.total.total_cost).toBe(0.0951);

    const openai = (await receipt("openai")).json();
    expect(openai.usage[0]).toMatchObject({
      cache_convention: "cached tokens are part of the prompt",
      service_tier: "flex",
    });
    // half of 1.25, 0.125 and 10
    expect(openai.lines).toMatchObject([
      { unit: "uncached_prompt_tokens", quantity: 600, amount_usd: 0.000_375, tier: "flex" },
      { unit: "completion_tokens", quantity: 100, amount_usd: 0.0005 },
      { unit: "cache_read_input_tokens", quantity: 400, amount_usd: 0.000_025 },
    ]);
  });

  it("names the call that is charged for a completion that several report, and the usage counted below", async () => {
    const usage = { "gpt-4o": { prompt_tokens: 100, completion_tokens: 10 } };
    await store([
      { id: "outer", trace_id: "c", summary: { usage }, output: { id, model: "gpt-4o" } },
      { id: "inner", trace_id: "c", parent_id: "outer", summary: { usage }, output: { id, model: "gpt-4o" } },
    ]);
    const outer = (await receipt("outer")).json();
    expect(outer.completion).toEqual({
      id,
      usage_source: "client",
      call_ids: ["inner", "outer"],
      counted_call_id: "inner",
    });
    expect(outer.usage[0].own.prompt_tokens).toBe(0);
    expect(outer.lines.map((line: { of: string; unit: string }) => [line.of, line.unit])).toEqual([
      ["below", "uncached_prompt_tokens"],
      ["below", "completion_tokens"],
    ]);
    expect(outer.total).toEqual((await receipt("inner")).json().total);
  });

  it("names units without a price, a project's price by its id, and a long request's tier", async () => {
    const created = await test.post("/cost/create", {
      project_id,
      costs: { ours: { prompt_token_cost: 0.5, completion_token_cost: 1, effective_date: at } },
    });
    const [[priceId]] = created.json().ids;
    await store([
      {
        id: "mixed",
        trace_id: "d",
        summary: {
          usage: {
            ours: { prompt_tokens: 2, web_searches: 1 },
            "no-such-model": { prompt_tokens: 7 },
            "gemini-2.5-pro": { promptTokenCount: 200_001 },
          },
        },
      },
    ]);
    const { lines, unpriced, total } = (await receipt("mixed")).json();
    const lineOf = (llm: string) => lines.find((line: { llm: string }) => line.llm === llm);
    expect(lineOf("ours").price).toEqual({
      source: "project",
      id: priceId,
      effective_date: "2026-11-01T00:00:00.000Z",
    });
    expect(lineOf("gemini-2.5-pro")).toMatchObject({
      tier: "standard, above 200000 input tokens",
      rate_usd: 0.000_002_5,
    });
    expect(unpriced).toEqual([
      expect.objectContaining({ llm: "ours", unit: "web_searches", quantity: 1 }),
      expect.objectContaining({ llm: "no-such-model", unit: "uncached_prompt_tokens", quantity: 7 }),
    ]);
    // 2 × $0.50 and 200,001 × $2.50 a million
    expect(total.prompt_tokens_total_cost).toBe(1.500_002_5);
  });

  it("is rejected for an unknown call, or one in several traces without a trace id", async () => {
    await store([
      { id: "twin", trace_id: "e1" },
      { id: "twin", trace_id: "e2" },
    ]);
    expect((await receipt("nobody")).status).toBe(404);
    expect((await receipt("twin")).json().detail[0]).toMatchObject({
      loc: ["body", "trace_id"],
      type: "ambiguous_id",
    });
    expect((await receipt("twin", { trace_id: "e2" })).json()).toMatchObject({ trace_id: "e2", lines: [] });
    expect((await receipt("twin", { trace_id: "e3" })).status).toBe(404);
  });

  it("names the price of a trained model at each of its checkpoints, and the checkpoint's own if it has one", async () => {
    const agent = "wandb-artifact:///acme/rl/agent-1";
    const own = { completion_token_cost: 0.002, effective_date: "2026-01-01T00:00:00Z" };
    const set = await test.post("/cost/create", {
      project_id,
      costs: {
        [agent]: { prompt_token_cost: 0.001, ...own },
        [`${agent}:step2`]: { prompt_token_cost: 0.003, ...own },
      },
    });
    const [ofModel, ofStep] = (set.json() as { ids: [string, string][] }).ids.map(([priceId]) => priceId);
    const priceOf = { step1: ofModel, step2: ofStep, step10: ofModel, latest: ofModel, v3: ofModel };
    await store(
      Object.keys(priceOf).map((version) => ({
        id: version,
        trace_id: version,
        summary: { usage: { [`${agent}:${version}`]: { prompt_tokens: 1000 } } },
      })),
    );
    for (const [version, priceId] of Object.entries(priceOf)) {
      const { lines, total } = (await receipt(version)).json();
      expect([lines[0].price.source, lines[0].price.id]).toEqual(["project", priceId]);
      expect(total.total_cost).toBe(version === "step2" ? 3 : 1);
    }
  });
});
