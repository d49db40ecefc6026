import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addKey } from "../helpers/add-key.ts";
import {
  budgetsOf,
  NOTHING,
  outcomeOf,
  sendChat,
  setBudget,
  settledBudget,
  usedIn,
} from "../helpers/budgeted.ts";
import { nothingLeft } from "../helpers/recorded-calls.ts";
import { bearer, startGateway, type TestGateway } from "../helpers/start-gateway.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ settings: { GATEWAY_PASSTHROUGH_PATHS: "/batches,GET /models" } });
});
afterAll(() => test.close());

let projects = 0;
const freshProject = (): string => `acme/scopes-${projects++}`;
type Options = Parameters<typeof sendChat>[2];
const outcome = (project: string | undefined, options: Options = {}): Promise<string> =>
  outcomeOf(sendChat(test.baseUrl, project, options));
/** Sends one after another, each when the one before is stored. */
async function outcomes(project: string, ...all: readonly Options[]): Promise<string[]> {
  const seen: string[] = [];
  for (const options of all) {
    seen.push(await outcome(project, options));
    await nothingLeft(test);
  }
  return seen;
}

const EXCEEDED = "402 budget_exceeded";
const traceparent = (trace: string) => ({ traceparent: `00-${trace.repeat(32)}-00f067aa0ba902b7-01` });

describe("a budget", () => {
  it("of one user leaves others alone; one of each user counts each by itself", async () => {
    const project = freshProject();
    await setBudget(test, project, { scope: "svc_user_id", match: "ada", limit: { requests: 1 } });
    await setBudget(test, project, { scope: "svc_user_id", limit: { requests: 2 } });
    const [ada, bob] = [{ user: "ada" }, { user: "bob" }];
    expect(await outcomes(project, ada, ada, bob, bob, bob, {}, {}, {})).toEqual([
      "200",
      EXCEEDED,
      "200",
      "200",
      EXCEEDED,
      "200",
      "200",
      "200",
    ]);
    const [one, each] = await budgetsOf(test, project);
    expect([one!.spent.requests, one!.values]).toEqual([1, undefined]);
    expect(each!.values!.map(({ value, spent }) => [value, spent.requests])).toEqual([
      ["bob", 2],
      ["ada", 1],
    ]);
    expect(each!.spent.requests).toBe(3);
  });

  it("of a thread and of a trace", async () => {
    const project = freshProject();
    await setBudget(test, project, { scope: "thread_id", limit: { requests: 1 } });
    await setBudget(test, project, { scope: "trace_id", match: "b".repeat(32), limit: { requests: 1 } });
    const thread = (id: string) => ({ headers: { "x-session-id": id } });
    const trace = (letter: string) => ({ headers: traceparent(letter) });
    expect(
      await outcomes(
        project,
        thread("t"),
        thread("t"),
        thread("u"),
        trace("a"),
        trace("a"),
        trace("b"),
        trace("b"),
      ),
    ).toEqual(["200", EXCEEDED, "200", "200", "200", "200", EXCEEDED]);
  });

  it("of a model counts what answers as its snapshot", async () => {
    const project = freshProject();
    await setBudget(test, project, { scope: "llm", match: "gpt-4o", limit: { requests: 2 } });
    await setBudget(test, project, { scope: "llm", match: "*", limit: { requests: 3 } });
    const mini = { model: "gpt-4o-mini" };
    expect(await outcomes(project, {}, {}, {}, mini, mini, mini, mini)).toEqual([
      "200",
      "200",
      EXCEEDED,
      "200",
      "200",
      "200",
      EXCEEDED,
    ]);
    const [one, each] = await budgetsOf(test, project);
    expect([one!.spent.requests, one!.held]).toEqual([2, NOTHING]);
    expect(each!.values!.map(({ value, spent }) => [value, spent.requests])).toEqual([
      ["gpt-4o", 2],
      ["gpt-4o-mini", 3],
    ]);
  });

  it("of keys needs a project, and refuses what nobody can meter", async () => {
    const [project, other] = [freshProject(), freshProject()];
    const key = await addKey(test, ["train"], [project, other]);
    const alone = await addKey(test, ["train"], [project]);
    const budget = await setBudget(test, project, { scope: "api_key", limit: { requests: 1 } });
    expect(await outcome(undefined, { key })).toBe("403 project_required");
    // a key of one project need not name it
    expect(await outcome(undefined, { key: alone })).toBe("200");
    await nothingLeft(test);
    expect(await outcome(project, { key: alone })).toBe(EXCEEDED);
    expect(await outcome(project, { key })).toBe("200");
    await nothingLeft(test);
    expect(await outcome(project, { key })).toBe(EXCEEDED);
    expect(await outcome(other, { key })).toBe("200");
    // the operator's own key
    expect(await outcome(undefined)).toBe("200");

    const send = (path: string, as: string, method = "POST") =>
      fetch(`${test.baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
        ...(method === "POST" && { body: "{}" }),
      });
    for (const as of [key, alone])
      expect(await outcomeOf(send("/batches", as))).toBe("403 unmetered_endpoint");
    // free endpoints pass when all is spent
    const free = ["/messages/count_tokens", "/responses/input_tokens"];
    test.upstream.forget();
    for (const path of free) await (await send(path, alone)).text();
    expect((await send("/models", alone, "GET")).status).toBe(200);
    expect(test.upstream.seen.map(({ url }) => url)).toEqual(
      [...free, "/models"].map((path) => `/v1${path}`),
    );
    await test.post("/budget/delete", { project_id: project, id: budget });
    expect(await outcome(undefined, { key })).toBe("200");
  });

  it("in dollars refuses what has no price, or counts it as nothing and says so", async () => {
    const project = freshProject();
    const id = await setBudget(test, project, { limit: { usd: 1 } });
    const unknown = { model: "house-model" };
    expect(await outcomes(project, unknown, { service_tier: "turbo" })).toEqual([
      "402 unknown_price",
      "402 unknown_price",
    ]);
    await test.post("/budget/update", { project_id: project, id, on_unknown_price: "count_only" });
    expect(await outcomes(project, unknown, {})).toEqual(["200", "200"]);
    const { spent, unpriced_requests } = await settledBudget(test, project);
    expect([spent, unpriced_requests]).toEqual([await usedIn(test, project), 1]);
    expect(spent.requests).toBe(2);
    // a limit without dollars asks for no price
    const other = freshProject();
    await setBudget(test, other, { limit: { tokens: 1_000_000 } });
    expect(await outcome(other, unknown)).toBe("200");
  });

  it("of nothing refuses free models, too", async () => {
    const project = freshProject();
    await test.post("/cost/create", {
      project_id: project,
      costs: { free: { prompt_token_cost: 0, completion_token_cost: 0 } },
    });
    await setBudget(test, project, { limit: { usd: 0.000_000_001 } });
    expect(await outcome(project, { model: "free" })).toBe("200");
    await setBudget(test, project, { limit: { usd: 0 } });
    expect(await outcome(project, { model: "free" })).toBe(EXCEEDED);
  });

  it("lets exactly its limit pass", async () => {
    const project = freshProject();
    const first = await sendChat(test.baseUrl, project, {
      headers: { "x-sumtree-budget": "tokens=1000000" },
    });
    await first.text();
    const hold = 1_000_000 - Number(first.headers.get("x-sumtree-budget-remaining")!.slice("tokens=".length));
    const other = freshProject();
    await setBudget(test, other, { limit: { tokens: hold - 1 } });
    expect(await outcome(other)).toBe(EXCEEDED);
    const exact = freshProject();
    await setBudget(test, exact, { limit: { tokens: hold } });
    expect(await outcome(exact)).toBe("200");
  });

  it("refuses a body that cannot be read", async () => {
    const project = freshProject();
    await setBudget(test, project, { limit: { usd: 1 } });
    const send = (body: string, headers: object = {}) =>
      fetch(`${test.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { ...bearer, "x-sumtree-project": project, "content-type": "application/json", ...headers },
        body,
      });
    expect(await outcomeOf(send('{"model": "gpt-4o", "messages": ['))).toBe("400 bad_request");
    expect(await outcomeOf(send("x", { "content-encoding": "br" }))).toBe("400 bad_request");
    expect(await settledBudget(test, project)).toMatchObject({ spent: NOTHING });
  });
});

describe("x-sumtree-budget", () => {
  const limited = (letter: string, limit: string) => ({
    headers: { ...traceparent(letter), "x-sumtree-budget": limit },
  });

  it("limits a trace from then on, never widens, and goes to no upstream", async () => {
    const project = freshProject();
    const plain = { headers: traceparent("c") };
    test.upstream.forget();
    expect(
      await outcomes(
        project,
        plain,
        limited("c", "requests=2; usd=1"),
        plain,
        limited("c", "requests=9"),
        { headers: traceparent("d") },
        limited("c", "requests=3"),
      ),
    ).toEqual(["200", "200", EXCEEDED, EXCEEDED, "200", EXCEEDED]);
    expect(test.upstream.seen.map(({ headers }) => headers["x-sumtree-budget"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    // another project has traces of its own
    expect(await outcome(freshProject(), plain)).toBe("200");
  });

  it("limits a trace that begins with it", async () => {
    const project = freshProject();
    const headers = { "x-sumtree-budget": "tokens=50" };
    expect(await outcomes(project, { headers }, { headers, max_tokens: 1 })).toEqual([EXCEEDED, EXCEEDED]);
    expect(await outcome(project, { headers: { "x-sumtree-budget": "usd=1;requests=1" } })).toBe("200");
  });

  it.each(["", "usd", "usd=", "usd=-1", "usd=1 tokens=2", "usd=1; usd=2", "tokens=1.5", "eur=1", "usd=1e3"])(
    "is 422 as %j",
    async (header) => {
      expect(await outcome(freshProject(), { headers: { "x-sumtree-budget": header } })).toBe(
        "422 validation",
      );
    },
  );

  it("needs a project", async () => {
    expect(await outcome(undefined, { headers: { "x-sumtree-budget": "usd=1" } })).toBe(
      "403 project_required",
    );
  });
});
