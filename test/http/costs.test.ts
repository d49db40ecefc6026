import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let nowMs = Date.parse("2026-05-05T05:05:05.555Z");
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => nowMs } } });
});
afterAll(() => test.close());

let projects = 0;
const freshProject = (): string => `acme/costs-${projects++}`;
const perToken = (prompt: number, completion: number, more: object = {}) => ({
  prompt_token_cost: prompt,
  completion_token_cost: completion,
  ...more,
});

async function setPrices(project_id: string, costs: object): Promise<[string, string][]> {
  const response = await test.post("/cost/create", { project_id, costs });
  expect(response.status, response.text).toBe(200);
  return response.json().ids;
}

async function listed(project_id: string, more: object = {}): Promise<Record<string, unknown>[]> {
  const response = await test.post("/cost/query", { project_id, ...more });
  expect(response.status, response.text).toBe(200);
  return response.json().results;
}

async function issuesOf(url: string, body: unknown): Promise<[string, string][]> {
  const response = await test.post(url, body);
  expect(response.status, response.text).toBe(422);
  return response
    .json()
    .detail.map((issue: { loc: string[]; type: string }) => [issue.loc.join("."), issue.type]);
}

describe("POST /cost/create", () => {
  it("sets prices, by default from now and in USD, and returns their ids", async () => {
    const project_id = freshProject();
    const ids = await setPrices(project_id, {
      "gpt-4o": perToken(0.000_002_5, 0.000_01),
      own: perToken(1, 2, {
        cache_read_input_token_cost: 0,
        cache_creation_input_token_cost: 0.5,
        prompt_token_cost_unit: "USD",
        completion_token_cost_unit: null,
        effective_date: "1998-10-03T00:00:00",
        provider_id: "ours",
      }),
    });
    expect(ids.map(([, llmId]) => llmId)).toEqual(["gpt-4o", "own"]);
    const units = { prompt_token_cost_unit: "USD", completion_token_cost_unit: "USD" };
    const usual = { service_tier: "", unit_costs: {} };
    const made = { created_by: expect.any(String), created_at: "2026-05-05T05:05:05.555Z" };
    expect(await listed(project_id, { sort_by: [{ field: "llm_id", direction: "asc" }] })).toEqual([
      {
        id: ids[0]![0],
        llm_id: "gpt-4o",
        provider_id: "default",
        effective_date: "2026-05-05T05:05:05.555Z",
        prompt_token_cost: 0.000_002_5,
        completion_token_cost: 0.000_01,
        cache_read_input_token_cost: null,
        cache_creation_input_token_cost: null,
        ...usual,
        ...units,
        ...made,
      },
      {
        id: ids[1]![0],
        llm_id: "own",
        provider_id: "ours",
        effective_date: "1998-10-03T00:00:00.000Z",
        prompt_token_cost: 1,
        completion_token_cost: 2,
        cache_read_input_token_cost: 0,
        cache_creation_input_token_cost: 0.5,
        ...usual,
        ...units,
        ...made,
      },
    ]);
  });

  it("sets prices of a service tier and of units, which apply to calls", async () => {
    const project_id = freshProject();
    await setPrices(project_id, {
      own: perToken(0.001, 0.002, { effective_date: "2026-01-01T00:00:00Z" }),
    });
    await setPrices(project_id, {
      own: perToken(0.01, 0.02, {
        effective_date: "2026-01-01T00:00:00Z",
        service_tier: "Scale",
        unit_costs: { output_audio_tokens: 0.5, web_searches: 0.03 },
      }),
    });
    const [row] = await listed(project_id, {
      query: { $expr: { $eq: [{ $getField: "service_tier" }, { $literal: "scale" }] } },
    });
    expect(row).toMatchObject({
      service_tier: "scale",
      unit_costs: { output_audio_tokens: 0.5, web_searches: 0.03 },
    });
    const at = "2026-05-01T00:00:00Z";
    const call = (id: string, service_tier?: string) => ({
      project_id,
      id,
      trace_id: "t",
      op_name: "ask",
      started_at: at,
      ended_at: at,
      inputs: {},
      attributes: {},
      output: null,
      summary: {
        usage: {
          own: {
            prompt_tokens: 10,
            completion_tokens: 20,
            completion_tokens_details: { audio_tokens: 5 },
            service_tier,
          },
        },
      },
    });
    const batch = [call("usual"), call("scale", "scale"), call("other", "priority")];
    const stored = await test.post(`/v2/${project_id}/calls/complete`, { batch });
    expect(stored.status, stored.text).toBe(200);
    const { call_usage } = (
      await test.post("/trace/usage", { project_id, filter: { trace_ids: ["t"] }, include_costs: true })
    ).json();
    const costs = (id: string) => [
      call_usage[id].own.prompt_tokens_total_cost,
      call_usage[id].own.completion_tokens_total_cost,
    ];
    expect(costs("usual")).toEqual([0.01, 0.04]);
    // 15 × $0.02 and 5 × $0.50
    expect(costs("scale")).toEqual([0.1, 2.8]);
    expect(costs("other")).toEqual([null, null]);
  });

  it("reports every issue of a request, and sets nothing", async () => {
    const project_id = freshProject();
    const costs = {
      good: perToken(1, 1),
      negative: perToken(-1, 1),
      text: perToken("1" as unknown as number, 1),
      euro: perToken(1, 1, { prompt_token_cost_unit: "EUR" }),
      date: perToken(1, 1, { effective_date: "tomorrow" }),
      more: perToken(1, 1, { price: 1 }),
      less: { prompt_token_cost: 1 },
      unit: perToken(1, 1, { unit_costs: { web_search: 1 } }),
    };
    expect(await issuesOf("/cost/create", { project_id, costs, extra: 1 })).toEqual(
      expect.arrayContaining([
        ["body.costs.negative.prompt_token_cost", "greater_than_equal"],
        ["body.costs.text.prompt_token_cost", "float_parsing"],
        ["body.costs.euro.prompt_token_cost_unit", "literal_error"],
        ["body.costs.date.effective_date", "datetime_parsing"],
        ["body.costs.more.price", "extra_forbidden"],
        ["body.costs.less.completion_token_cost", "missing"],
        ["body.costs.unit.unit_costs.web_search", "extra_forbidden"],
        ["body.extra", "extra_forbidden"],
      ]),
    );
    expect(await listed(project_id)).toEqual([]);
    expect(await issuesOf("/cost/create", {})).toEqual([
      ["body.project_id", "missing"],
      ["body.costs", "missing"],
    ]);
  });

  it("rejects more prices than a response can contain", async () => {
    const project_id = freshProject();
    const price = perToken(1, 1);
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, price]));
    for (let times = 0; times < 4; times++) await setPrices(project_id, many(5_000));
    expect(await issuesOf("/cost/create", { project_id, costs: { one: price } })).toEqual([
      ["body.costs", "too_long"],
    ]);
  });
});

describe("POST /cost/query", () => {
  it("returns the requested fields, order and page; by default oldest first", async () => {
    const project_id = freshProject();
    for (const [llmId, prompt] of [
      ["b", 3],
      ["a", 2],
      ["c", 1],
    ] as const) {
      nowMs += 1_000;
      await setPrices(project_id, { [llmId]: perToken(prompt, 0) });
    }
    const fields = ["llm_id"];
    const names = async (more: object) => (await listed(project_id, { fields, ...more })).map(Object.values);
    expect(await names({})).toEqual([["b"], ["a"], ["c"]]);
    expect(await names({ sort_by: [{ field: "prompt_token_cost", direction: "asc" }] })).toEqual([
      ["c"],
      ["a"],
      ["b"],
    ]);
    expect(await names({ sort_by: [{ field: "created_at", direction: "desc" }], limit: 1 })).toEqual([["c"]]);
    expect(await names({ offset: 1, limit: 1 })).toEqual([["a"]]);
    expect(await names({ limit: 0 })).toEqual([]);
  });

  it("reports the issues of a request", async () => {
    expect(await issuesOf("/cost/query", { project_id: "acme/costs", fields: [] })).toEqual([
      ["body.fields", "too_short"],
    ]);
    const project_id = freshProject();
    const body = {
      project_id,
      fields: ["llm_id", "purged"],
      sort_by: [{ field: "1; DROP", direction: "up" }],
      limit: -1,
    };
    expect(await issuesOf("/cost/query", body)).toEqual([
      ["body.fields.1", "literal_error"],
      ["body.sort_by.0.field", "literal_error"],
      ["body.sort_by.0.direction", "literal_error"],
      ["body.limit", "greater_than_equal"],
    ]);
  });
});

describe("POST /cost/purge", () => {
  const id = { $getField: "id" };
  const literal = (text: string) => ({ $literal: text });

  it("deletes the prices selected by $eq, $in and $or, repeatedly, and no others", async () => {
    const project_id = freshProject();
    const price = perToken(1, 1);
    const ids = await setPrices(project_id, { a: price, b: price, c: price, d: price, e: price });
    const [a, b, c, d] = ids.map(([priceId]) => literal(priceId)) as [object, object, object, object];
    const byName = { fields: ["llm_id"], sort_by: [{ field: "llm_id", direction: "asc" }] };
    const left = async () => (await listed(project_id, byName)).map((row) => row["llm_id"]);
    const purge = async ($expr: object) => {
      const response = await test.post("/cost/purge", { project_id, query: { $expr } });
      expect([response.status, response.text]).toEqual([200, "{}"]);
    };
    await purge({ $eq: [id, a] });
    expect(await left()).toEqual(["b", "c", "d", "e"]);
    await purge({ $in: [id, [a, b]] });
    expect(await left()).toEqual(["c", "d", "e"]);
    await purge({ $or: [{ $eq: [id, c] }, { $in: [id, [d]] }] });
    expect(await left()).toEqual(["e"]);
    await purge({ $in: [id, []] });
    await purge({ $eq: [id, literal("nobody's")] });
    expect(await left()).toEqual(["e"]);
  });

  it("deletes nothing of another project", async () => {
    const [mine, theirs] = [freshProject(), freshProject()];
    const [[theirId]] = (await setPrices(theirs, { m: perToken(1, 1) })) as [[string, string]];
    const query = { $expr: { $eq: [id, literal(theirId)] } };
    expect((await test.post("/cost/purge", { project_id: mine, query })).status).toBe(200);
    expect(await listed(theirs)).toHaveLength(1);
  });

  it("is not undone by an insert that is repeated", async () => {
    const project_id = freshProject();
    const [[own]] = (await setPrices(project_id, { m: perToken(1, 1) })) as [[string, string]];
    const [row] = await test.engine.rows<object>(
      sql`SELECT * FROM llm_prices WHERE id = ${param("String", own)}`,
      { name: "test" },
    );
    const repeat = () => test.engine.insert("llm_prices", [row!], { name: "test" });
    await repeat();
    expect(await listed(project_id)).toHaveLength(1);
    const query = { $expr: { $eq: [id, literal(own)] } };
    expect((await test.post("/cost/purge", { project_id, query })).status).toBe(200);
    await repeat();
    expect(await listed(project_id)).toEqual([]);
  });

  it.each([
    [{ $eq: [{ $getField: "llm_id" }, literal("a")] }, "body.query.$expr.$eq.0.$getField"],
    [{ $eq: [id, { $literal: 1 }] }, "body.query.$expr.$eq.1.$literal"],
    [{ $in: [id, literal("a")] }, "body.query.$expr.$in.1"],
    [{ $or: [{ $eq: [{ $getField: "llm_id" }, literal("a")] }] }, "body.query.$expr.$or.0.$eq.0.$getField"],
  ])("purges only by id: rejects %j", async ($expr, loc) => {
    const issues = await issuesOf("/cost/purge", { project_id: "acme/costs", query: { $expr } });
    expect(issues.map(([at]) => at)).toContain(loc);
  });

  it.each([[{ $not: [] }], [{}], [{ $or: [] }], [{ $eq: [id, literal("a")], $in: [id, []] }]])(
    "refuses %j",
    async ($expr) => {
      await issuesOf("/cost/purge", { project_id: "acme/costs", query: { $expr } });
    },
  );
});
