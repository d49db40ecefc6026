import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addKey } from "../helpers/add-key.ts";
import {
  budgetsOf,
  NOTHING,
  outcomeOf,
  sendChat,
  setBudget,
  usedIn,
  type Refusal,
  type SentBody,
} from "../helpers/budgeted.ts";
import { nothingLeft } from "../helpers/recorded-calls.ts";
import { bearer, startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
let nowMs = Date.parse("2026-11-20T12:00:00Z");
beforeAll(async () => {
  test = await startGateway({
    deps: { clock: { now: () => nowMs } },
    settings: { GEMINI_UPSTREAM_URL: "http://127.0.0.1:9" },
  });
});
afterAll(() => test.close());

let projects = 0;
const freshProject = (): string => `acme/budgets-${projects++}`;
const chat = (project: string | undefined, options: SentBody = {}): Promise<Response> =>
  sendChat(test.baseUrl, project, options);
const outcome = (project: string | undefined, options: SentBody = {}): Promise<string> =>
  outcomeOf(chat(project, options));

/** What 100 tokens of gpt-4o and the five of its prompt cost. */
const COST = 0.001_012_5;

describe("the routes of budgets", () => {
  it("create, change and delete a budget, each for the key's own projects", async () => {
    const project = freshProject();
    const created = await test.post("/budget/create", {
      project_id: project,
      name: "Team",
      scope: "svc_user_id",
      match: "ada",
      limit: { usd: 0.1, requests: 7 },
      window: "month",
      timezone: "Asia/Tokyo",
      alerts: [1, 0.5, 1],
    });
    const budget = {
      project_id: project,
      name: "Team",
      scope: "svc_user_id",
      match: "ada",
      limit: { usd: 0.1, tokens: null, requests: 7 },
      window: "month",
      timezone: "Asia/Tokyo",
      on_unknown_price: "refuse",
      alerts: [0.5, 1],
    };
    const { id } = created.json();
    expect(created.json()).toEqual({ id, ...budget });
    const state = { spent: NOTHING, held: NOTHING, unpriced_requests: 0 };
    const resets_at = "2026-11-30T15:00:00.000Z";
    expect(await budgetsOf(test, project)).toEqual([{ id, ...budget, ...state, resets_at }]);

    const changed = await test.post("/budget/update", {
      project_id: project,
      id,
      limit: { tokens: 5 },
      window: null,
      on_unknown_price: "count_only",
    });
    const now = {
      ...budget,
      limit: { usd: null, tokens: 5, requests: null },
      window: null,
      on_unknown_price: "count_only",
    };
    expect(changed.json()).toEqual({ id, ...now });
    expect(await budgetsOf(test, project)).toEqual([{ id, ...now, ...state, resets_at: null }]);

    const elsewhere = freshProject();
    for (const route of ["update", "delete"])
      expect((await test.post(`/budget/${route}`, { project_id: elsewhere, id })).status).toBe(404);
    expect((await test.post("/budget/delete", { project_id: project, id })).json()).toEqual({});
    expect(await budgetsOf(test, project)).toEqual([]);
    expect((await test.post("/budget/update", { project_id: project, id, name: "x" })).status).toBe(404);
  });

  it("list budgets as they were created, changed or not", async () => {
    const project = freshProject();
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) {
      nowMs++;
      ids.push(await setBudget(test, project, { limit: { usd: count } }));
    }
    nowMs++;
    await test.post("/budget/update", { project_id: project, id: ids[1], name: "changed" });
    expect((await budgetsOf(test, project)).map(({ id }) => id)).toEqual(ids);
  });

  it("may be read with the scope read, and changed with admin alone", async () => {
    const project = freshProject();
    const key = await addKey(test, ["read"], [project]);
    expect((await test.post("/budget/query", { project_id: project }, { key })).status).toBe(200);
    expect((await test.post("/budget/query", { project_id: freshProject() }, { key })).status).toBe(403);
    const asked = { project_id: project, scope: "project", limit: { usd: 1 } };
    expect((await test.post("/budget/create", asked, { key })).status).toBe(403);
  });

  it.each([
    [{ scope: "team" }, ["body", "scope"]],
    [{ limit: { usd: -1 } }, ["body", "limit", "usd"]],
    [{ limit: { tokens: 1.5 } }, ["body", "limit", "tokens"]],
    [{ limit: { eur: 1 } }, ["body", "limit", "eur"]],
    [{ window: "year" }, ["body", "window"]],
    [{ timezone: "Mars/Olympus" }, ["body", "timezone"]],
    [{ alerts: [0] }, ["body", "alerts", 0]],
    [{ match: "somebody" }, ["body", "match"]],
    [{ on_unknown_price: "ignore" }, ["body", "on_unknown_price"]],
  ])("refuse %j", async (wrong, loc) => {
    const asked = { project_id: freshProject(), scope: "project", limit: { usd: 1 }, ...wrong };
    const response = await test.post("/budget/create", asked);
    expect([response.status, response.json().detail[0].loc]).toEqual([422, loc]);
  });
});

describe("a request under a budget", () => {
  it("passes while its worst case fits, tells what is left, and is refused as SDKs understand", async () => {
    const project = freshProject();
    const id = await setBudget(test, project, { limit: { requests: 2 }, window: "month" });
    const first = await chat(project);
    expect(first.headers.get("x-sumtree-budget-remaining")).toBe("requests=1");
    expect(first.headers.get("x-sumtree-budget-reset")).toBe("2026-12-01T00:00:00.000Z");
    expect(await outcomeOf(Promise.resolve(first))).toBe("200");
    expect(await outcome(project)).toBe("200");
    await nothingLeft(test);

    const refused = await chat(project);
    expect([
      refused.status,
      refused.headers.get("x-should-retry"),
      refused.headers.get("retry-after"),
    ]).toEqual([402, "false", null]);
    const spent = await usedIn(test, project);
    expect(spent).toEqual({ usd: 2 * COST, tokens: 210, requests: 2 });
    expect(((await refused.json()) as { error: Refusal }).error).toEqual({
      message:
        "Budget (project): 2 requests of 2 requests spent. This request may use 1 requests. It resets at 2026-12-01T00:00:00.000Z.",
      type: "insufficient_quota",
      param: null,
      code: "budget_exceeded",
      budget: id,
      scope: "project",
      value: null,
      unit: "requests",
      limit: { usd: null, tokens: null, requests: 2 },
      spent,
      held: NOTHING,
      resets_at: "2026-12-01T00:00:00.000Z",
    });
    expect(test.upstream.open()).toBe(0);

    // the next window, and a raised limit
    nowMs += 11 * 86_400_000;
    expect(await outcome(project)).toBe("200");
    nowMs -= 11 * 86_400_000;
    await test.post("/budget/update", { project_id: project, id, limit: { requests: 3 } });
    expect(await outcome(project)).toBe("200");
    await nothingLeft(test);
    expect(await outcome(project)).toBe("402 budget_exceeded");
    await test.post("/budget/delete", { project_id: project, id });
    expect(await outcome(project)).toBe("200");
  });

  it("is refused in Anthropic's and Google's shape on their endpoints", async () => {
    const project = freshProject();
    await setBudget(test, project, { limit: { usd: 0 } });
    const send = async (path: string, body: object) => {
      const headers = { "x-sumtree-project": project, ...bearer };
      const response = await fetch(`${test.baseUrl}${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return [response.status, await response.json()];
    };
    const messages = [{ role: "user", content: "Hi" }];
    expect(await send("/messages", { model: "claude-sonnet-4-5", max_tokens: 5, messages })).toEqual([
      402,
      expect.objectContaining({
        type: "error",
        error: expect.objectContaining({
          type: "billing_error",
          code: "budget_exceeded",
          limit: expect.anything(),
        }),
      }),
    ]);
    expect(await send("/models/gemini-2.5-flash:generateContent", { contents: [] })).toEqual([
      402,
      {
        error: expect.objectContaining({
          code: 402,
          status: "RESOURCE_EXHAUSTED",
          details: [expect.objectContaining({ reason: "budget_exceeded" })],
        }),
      },
    ]);
  });

  it("is told to wait while only open requests hold what it needs", async () => {
    const project = freshProject();
    await setBudget(test, project, { limit: { requests: 1 } });
    test.upstream.fail({ kind: "silence", ms: 60_000 });
    const abort = new AbortController();
    const hanging = fetch(`${test.baseUrl}/chat/completions`, {
      method: "POST",
      signal: abort.signal,
      headers: { ...bearer, "x-sumtree-project": project },
      body: JSON.stringify({ model: "gpt-4o", max_tokens: 1, messages: [] }),
    }).catch(() => undefined);
    await until(() => test.upstream.open() === 1);
    const refused = await chat(project);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    const { error } = (await refused.json()) as { error: Refusal };
    expect(error).toMatchObject({ code: "budget_held", type: "rate_limit_error", spent: NOTHING });
    expect(error.held?.requests).toBe(1);
    abort.abort();
    await hanging;
  });
});
