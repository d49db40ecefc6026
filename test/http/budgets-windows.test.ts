import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  budgetsOf,
  NOTHING,
  outcomeOf,
  sendChat,
  setBudget,
  settledBudget,
  usedIn,
} from "../helpers/budgeted.ts";
import { callsOf, nothingLeft } from "../helpers/recorded-calls.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
let nowMs = Date.parse("2026-11-20T12:00:00Z");
beforeAll(async () => {
  test = await startGateway({ deps: { clock: { now: () => nowMs } } });
});
afterAll(() => test.close());

let projects = 0;
const freshProject = (): string => `acme/windows-${projects++}`;
const outcome = (project: string, options: object = {}): Promise<string> =>
  outcomeOf(sendChat(test.baseUrl, project, options as Record<string, unknown>));
const atMs = (text: string): void => void (nowMs = Date.parse(text));

let completions = 0;
function completionOf(model: string): string {
  const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
  const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hi" } }];
  return JSON.stringify({ id: `chatcmpl-0aB1cD2eF3gH4iJ5k${completions++}`, model, choices, usage });
}

/** Lets the provider answer the next request only when the returned function is called. */
function holdNextAnswer(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const headers = { "content-type": "application/json" };
  const chunks = [promise, completionOf("gpt-4o")];
  test.upstream.fail({ kind: "bytes", headers, chunks, ending: "end" });
  return resolve;
}

/** Stores calls of an SDK, with the tokens of one request each. */
async function ingest(project: string, calls: readonly { id: string; started_at: string; tokens: number }[]) {
  const batch = calls.map(({ id, started_at, tokens }) => ({
    project_id: project,
    id,
    trace_id: id,
    parent_id: null,
    op_name: "chat",
    started_at,
    ended_at: started_at,
    attributes: {},
    inputs: {},
    summary: {
      usage: { "gpt-4o": { requests: 1, prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens } },
    },
  }));
  const response = await test.post(`/v2/${project}/calls/complete`, { batch });
  expect(response.json()).toEqual({ rejected: [] });
}

describe("what is spent in a window", () => {
  it("has late calls of the window, no earlier ones, and loses deleted ones, at once", async () => {
    const project = freshProject();
    atMs("2026-11-20T12:00:00Z");
    await setBudget(test, project, { limit: { tokens: 1000 }, window: "day", timezone: "Europe/Berlin" });
    expect(await outcome(project)).toBe("200");
    await nothingLeft(test);
    const earlier = { id: "earlier", started_at: "2026-11-19T22:59:59.999Z", tokens: 5000 };
    await ingest(project, [earlier]);
    expect(await outcome(project)).toBe("200");
    await ingest(project, [{ id: "late", started_at: "2026-11-19T23:00:00Z", tokens: 700 }]);
    expect(await outcome(project)).toBe("402 budget_exceeded");
    expect((await settledBudget(test, project)).spent.tokens).toBe(700 + 2 * 105);
    await test.post("/calls/delete", { project_id: project, call_ids: ["late"] });
    expect(await outcome(project)).toBe("200");
    expect((await settledBudget(test, project)).spent.tokens).toBe(3 * 105);
    // recorded ones may be deleted, too
    const ids = (await callsOf(test, project)).map(({ id }) => id);
    await test.post("/calls/delete", { project_id: project, call_ids: ids });
    expect((await settledBudget(test, project)).spent).toEqual(NOTHING);
  });

  it("follows prices that are set for the past", async () => {
    const project = freshProject();
    await setBudget(test, project, { limit: { usd: 1 } });
    expect(await outcome(project)).toBe("200");
    await nothingLeft(test);
    const price = {
      prompt_token_cost: 0,
      completion_token_cost: 0.0099,
      effective_date: "2026-01-01T00:00:00Z",
    };
    const set = (model: string, more: object = {}): Promise<unknown> =>
      test.post("/cost/create", { project_id: project, costs: { [model]: { ...price, ...more } } });
    await set("gpt-4o");
    expect(await outcome(project)).toBe("402 budget_exceeded");
    const dear = await settledBudget(test, project);
    expect(dear.spent).toEqual(await usedIn(test, project));
    expect(dear.spent.usd).toBeCloseTo(0.99, 9);
    await set("gpt-4o", {
      completion_token_cost: 0.000_01,
      effective_date: "2026-01-02T00:00:00Z",
    });
    expect(await outcome(project)).toBe("200");
  });

  it.each([
    ["23 hours", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
    ["25 hours", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  ])("is that of a day of %s of local time", async (_hours, start, end) => {
    const project = freshProject();
    await setBudget(test, project, { limit: { requests: 2 }, window: "day", timezone: "Europe/Berlin" });
    const [startMs, endMs] = [Date.parse(start), Date.parse(end)];
    nowMs = startMs - 1;
    expect(await outcome(project)).toBe("200");
    nowMs = startMs;
    expect(await outcome(project)).toBe("200");
    nowMs = endMs - 1;
    expect(await outcome(project)).toBe("200");
    expect((await settledBudget(test, project)).resets_at).toBe(new Date(endMs).toISOString());
    expect(await outcome(project)).toBe("402 budget_exceeded");
    nowMs = startMs - 1;
    expect((await settledBudget(test, project)).spent.requests).toBe(1);
    nowMs = endMs;
    expect(await outcome(project)).toBe("200");
    const { spent, resets_at } = await settledBudget(test, project);
    expect([spent.requests, resets_at]).toEqual([1, new Date(endMs + 24 * 3_600_000).toISOString()]);
  });

  it("is where a request began, also when it ends in the next one", async () => {
    const project = freshProject();
    await setBudget(test, project, { limit: { requests: 1 }, window: "hour" });
    atMs("2026-11-20T12:59:59.999Z");
    const release = holdNextAnswer();
    const open = outcome(project);
    await until(() => test.upstream.open() === 1);
    expect(await outcome(project)).toBe("429 budget_held");
    atMs("2026-11-20T13:00:00Z");
    expect((await budgetsOf(test, project))[0]).toMatchObject({ spent: NOTHING, held: NOTHING });
    expect(await outcome(project)).toBe("200");
    release();
    expect(await open).toBe("200");
    expect((await settledBudget(test, project)).spent.requests).toBe(1);
    expect(await outcome(project)).toBe("402 budget_exceeded");
    atMs("2026-11-20T12:30:00Z");
    expect((await settledBudget(test, project)).spent.requests).toBe(1);
  });
});

it("what was open when its budget was made, or changed, counts once it is stored", async () => {
  const project = freshProject();
  atMs("2026-11-20T12:00:00Z");
  const release = holdNextAnswer();
  const open = outcome(project);
  await until(() => test.upstream.open() === 1);
  nowMs++;
  await setBudget(test, project, { limit: { requests: 2 } });
  expect(await outcome(project)).toBe("200");
  release();
  expect(await open).toBe("200");
  expect((await settledBudget(test, project)).spent.requests).toBe(2);
  expect(await outcome(project)).toBe("402 budget_exceeded");
});

it("what another model answers than was asked for counts for its budget", async () => {
  const project = freshProject();
  await setBudget(test, project, { scope: "llm", match: "gpt-4o-mini", limit: { requests: 2 } });
  expect(await outcome(project, { model: "gpt-4o-mini" })).toBe("200");
  test.upstream.fail({ kind: "answer", status: 200, body: completionOf("gpt-4o-mini") });
  expect(await outcome(project, { model: "router" })).toBe("200");
  expect((await settledBudget(test, project)).spent.requests).toBe(2);
  expect(await outcome(project, { model: "gpt-4o-mini" })).toBe("402 budget_exceeded");
});

it("a limit that a trace gets while a request is open has what that request used", async () => {
  const project = freshProject();
  const headers = { traceparent: `00-${"e".repeat(32)}-00f067aa0ba902b7-01` };
  const limited = { headers: { ...headers, "x-sumtree-budget": "requests=2" } };
  const release = holdNextAnswer();
  const open = outcome(project, { headers });
  await until(() => test.upstream.open() === 1);
  expect(await outcome(project, limited)).toBe("200");
  release();
  expect(await open).toBe("200");
  await nothingLeft(test);
  expect(await outcome(project, { headers })).toBe("402 budget_exceeded");
});
