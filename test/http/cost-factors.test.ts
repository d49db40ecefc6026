import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let nowMs = Date.parse("2026-06-01T00:00:00Z");
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => nowMs } } });
});
afterAll(() => test.close());

let projects = 0;
const freshProject = (): string => `acme/factors-${projects++}`;

async function setFactors(project_id: string, factors: readonly object[]): Promise<readonly string[]> {
  const answer = await test.post("/cost/factor/create", { project_id, factors });
  expect(answer.status, answer.text).toBe(200);
  return answer.json().ids;
}

async function store(project_id: string, calls: readonly object[]): Promise<void> {
  const batch = calls.map((call) => ({
    project_id,
    trace_id: "t",
    op_name: "ask",
    started_at: "2026-06-02T00:00:00Z",
    ended_at: "2026-06-02T00:00:01Z",
    inputs: {},
    attributes: {},
    output: null,
    summary: {},
    ...call,
  }));
  const stored = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(stored.json(), stored.text).toEqual({ rejected: [] });
}

const used = (usage: object) => ({ summary: { usage } });
/** 1,000 × $2.50 and 100 × $10 a million: $0.0035. */
const gpt4o = used({ "gpt-4o": { prompt_tokens: 1000, completion_tokens: 100 } });

async function receipt(project_id: string, call_id: string) {
  const answer = await test.post("/call/receipt", { project_id, call_id });
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}

interface ReceiptLine {
  readonly llm: string;
  readonly billed_usd: number | null;
  readonly factor: { provider: string | null; factor: number } | null;
}
const factorOf = (lines: readonly ReceiptLine[], llm: string) =>
  lines.find((line) => line.llm === llm)?.factor?.factor ?? null;

describe("factors on list cost", () => {
  it("add the paid cost, and change no list cost", async () => {
    const project_id = freshProject();
    await store(project_id, [{ id: "c", ...gpt4o }]);
    const usage = async () =>
      (await test.post("/trace/usage", { project_id, include_costs: true })).json().call_usage;
    const before = { receipt: await receipt(project_id, "c"), usage: await usage() };
    expect(before.receipt.total).toMatchObject({ total_cost: 0.0035, billed_cost: 0.0035 });
    expect(before.receipt.lines).toMatchObject([
      { factor: null, amount_usd: 0.0025, billed_usd: 0.0025 },
      { factor: null, amount_usd: 0.001, billed_usd: 0.001 },
    ]);
    const [id] = await setFactors(project_id, [{ provider: "openai", factor: 0.85, note: "contract" }]);
    const { lines, total } = await receipt(project_id, "c");
    const factor = { id, provider: "openai", factor: 0.85, effective_date: "2026-06-01T00:00:00.000Z" };
    expect(lines).toMatchObject([
      { factor, amount_usd: 0.0025, billed_usd: 0.002_125 },
      { factor, amount_usd: 0.001, billed_usd: 0.000_85 },
    ]);
    expect(total).toEqual({ ...before.receipt.total, billed_cost: 0.002_975 });
    expect(await usage()).toEqual(before.usage);
  });

  it("apply to a provider, by any of its names, or to all others", async () => {
    const project_id = freshProject();
    await setFactors(project_id, [
      { provider: "openai", factor: 0.5 },
      { provider: " AWS.Bedrock ", factor: 0.75 },
      { provider: "our-gpus", factor: 2 },
      { factor: 1.19 },
    ]);
    await test.post("/cost/create", {
      project_id,
      costs: {
        ours: { prompt_token_cost: 0.001, completion_token_cost: 0.001, provider_id: "Our-GPUs" },
        plain: { prompt_token_cost: 0.001, completion_token_cost: 0.001 },
      },
    });
    const counts = { prompt_tokens: 1000, completion_tokens: 100 };
    const usages = {
      "gpt-4o": [counts, 0.5],
      "azure/gpt-4o": [counts, 1.19],
      "us.anthropic.claude-sonnet-4-20250514-v1:0": [counts, 0.75],
      "claude-sonnet-4-5": [{ ...counts, provider: "aws.bedrock" }, 0.75],
      "gpt-4.1": [{ ...counts, provider: "nobody-knows-it" }, 1.19],
      ours: [counts, 2],
      plain: [counts, 1.19],
    } as const;
    const summary = Object.entries(usages).map(([llm, [usage]]) => [llm, usage]);
    await store(project_id, [{ id: "c", ...used(Object.fromEntries(summary)) }]);
    const { lines } = await receipt(project_id, "c");
    for (const [llm, [, factor]] of Object.entries(usages))
      expect([llm, factorOf(lines, llm)]).toEqual([llm, factor]);
  });

  it("apply from their date, of equal dates the one set last, until purged", async () => {
    const project_id = freshProject();
    const day = (date: string) => ({
      started_at: `2026-${date}T00:00:00Z`,
      ended_at: `2026-${date}T00:00:01Z`,
    });
    await store(project_id, [
      { id: "old", trace_id: "1", ...day("01-01"), ...gpt4o },
      { id: "new", trace_id: "2", ...day("06-01"), ...gpt4o },
    ]);
    const billed = async (call: string) => (await receipt(project_id, call)).total.billed_cost;
    nowMs = Date.parse("2026-06-01T00:00:00Z");
    // Set after both calls were stored: from now on.
    await setFactors(project_id, [{ provider: "openai", factor: 2 }]);
    expect([await billed("old"), await billed("new")]).toEqual([0.0035, 0.007]);
    nowMs += 1000;
    const [again] = await setFactors(project_id, [
      { provider: "openai", factor: 3, effective_date: "2026-06-01T00:00:00Z" },
    ]);
    await setFactors(project_id, [{ factor: 10, effective_date: "2025-01-01" }]);
    await setFactors(project_id, [
      { provider: "openai", factor: 99, effective_date: "2026-06-01T00:00:00.001Z" },
    ]);
    expect([await billed("old"), await billed("new")]).toEqual([0.035, 0.0105]);
    const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: again }] } };
    expect((await test.post("/cost/factor/purge", { project_id, query })).json()).toEqual({});
    expect(await billed("new")).toBe(0.007);
  });

  it("keep an unknown cost unknown, can be 0 or large, and apply to the known part of a sum", async () => {
    const project_id = freshProject();
    await store(project_id, [
      { id: "root", ...used({ "no-such-model": { prompt_tokens: 7 } }) },
      { id: "child", parent_id: "root", ...gpt4o },
      { id: "unknown", trace_id: "u", ...used({ "no-such-model": { prompt_tokens: 7 } }) },
      { id: "nothing", trace_id: "n" },
    ]);
    const totals = async () =>
      Promise.all(
        ["root", "unknown", "nothing"].map(async (id) => (await receipt(project_id, id)).total.billed_cost),
      );
    await setFactors(project_id, [{ factor: 0 }]);
    expect(await totals()).toEqual([0, null, 0]);
    nowMs += 1000;
    await setFactors(project_id, [{ factor: 1_000_000, effective_date: "2026-06-02" }]);
    expect(await totals()).toEqual([3500, null, 0]);
    const { lines } = await receipt(project_id, "root");
    expect(lines.map(({ llm, billed_usd }: ReceiptLine) => [llm, billed_usd])).toEqual([
      ["no-such-model", null],
      ["gpt-4o", 2500],
      ["gpt-4o", 1000],
    ]);
  });

  it("belong to a project, are listed as sent, and not written or deleted by other projects", async () => {
    const [mine, theirs] = [freshProject(), freshProject()];
    nowMs = Date.parse("2026-06-01T00:00:00Z");
    const [id] = await setFactors(theirs, [{ provider: "x_ai", factor: 0.9, note: "n" }]);
    const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } };
    await test.post("/cost/factor/purge", { project_id: mine, query });
    const listed = async (project_id: string) =>
      (await test.post("/cost/factor/query", { project_id })).json().results;
    expect(await listed(mine)).toEqual([]);
    expect(await listed(theirs)).toEqual([
      {
        id,
        provider: "x-ai",
        factor: 0.9,
        effective_date: "2026-06-01T00:00:00.000Z",
        note: "n",
        created_by: expect.any(String),
        created_at: "2026-06-01T00:00:00.000Z",
      },
    ]);
  });

  it.each([
    ["a factor below 0", { factor: -0.1 }, "body.factors.0.factor"],
    ["a factor that is no discount, tax or currency", { factor: 1_000_001 }, "body.factors.0.factor"],
    ["a text", { factor: "0.85" }, "body.factors.0.factor"],
    ["no factor", { provider: "openai" }, "body.factors.0.factor"],
    ["a provider without a name", { factor: 1, provider: "  " }, "body.factors.0.provider"],
    ["a date that is none", { factor: 1, effective_date: "soon" }, "body.factors.0.effective_date"],
    ["a member that nobody knows", { factor: 1, tax: 1 }, "body.factors.0.tax"],
  ])("rejects %s", async (_, factor, loc) => {
    const answer = await test.post("/cost/factor/create", { project_id: freshProject(), factors: [factor] });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.json().detail.map((issue: { loc: string[] }) => issue.loc.join("."))).toContain(loc);
  });

  it("are limited to 1,000 per project", async () => {
    const project_id = freshProject();
    await setFactors(
      project_id,
      Array.from({ length: 1000 }, () => ({ factor: 1 })),
    );
    const answer = await test.post("/cost/factor/create", { project_id, factors: [{ factor: 1 }] });
    expect(answer.status).toBe(422);
    expect(answer.json().detail[0]).toMatchObject({ loc: ["body", "factors"], type: "too_long" });
  });
});
