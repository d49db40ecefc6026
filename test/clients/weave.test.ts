import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runProgram } from "../helpers/client-program.ts";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { hasProgram } from "../helpers/has-program.ts";
import { count503 } from "../helpers/rejections.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { startTlsProxy } from "../helpers/tls-proxy.ts";
import { until } from "../helpers/until.ts";

let test: TestApp;
let storeIsAway = false;
let url = "";
let PROJECT = "";
let projects = 0;
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) => faultyEngine(engine, () => (storeIsAway ? "refused" : "done")),
  });
  url = await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => test.close());
beforeEach(() => (PROJECT = `acme/weave${projects++}`));

const run = (program: string) =>
  runProgram(program, { WANDB_API_KEY: ROOT_KEY, WF_TRACE_SERVER_URL: url, PROJECT });

interface StoredCall {
  readonly id: string;
  readonly op_name: string;
  readonly display_name: string | null;
  readonly parent_id: string | null;
  readonly exception: string | null;
  readonly attributes: Record<string, unknown>;
  readonly inputs: Record<string, unknown>;
  readonly output: unknown;
  readonly summary: { weave: { status: string; trace_name: string; costs: Record<string, unknown> } };
}

const nameOf = (call: StoredCall) => /op\/([^:]+):/.exec(call.op_name)![1]!;

/** Reads the usage of each call by the name of its op; several for a repeated name. */
async function usageByName(calls: readonly StoredCall[]): Promise<Record<string, object[]>> {
  const response = await test.post("/trace/usage", { project_id: PROJECT });
  expect(response.json().unfinished_call_ids).toEqual([]);
  const usage = response.json().call_usage as Record<string, Record<string, Record<string, number>>>;
  expect(Object.keys(usage).sort()).toEqual(calls.map((call) => call.id).sort());
  const byName: Record<string, object[]> = {};
  for (const call of calls) {
    const entries = Object.entries(usage[call.id]!).map(([llm, counts]) => [
      llm,
      [
        counts["requests"],
        counts["prompt_tokens"],
        counts["completion_tokens"],
        counts["cache_read_input_tokens"],
      ],
    ]);
    (byName[nameOf(call)] ??= []).push(Object.fromEntries(entries) as object);
  }
  return byName;
}

const GPT = "gpt-4o-2024-08-06";
const CLAUDE = "claude-sonnet-4-5";

describe("npm weave", () => {
  it("traces nested calls, also while the store is away, with correct usage at every level, and reads them", async () => {
    storeIsAway = true;
    const ended = run("weave-trace.ts");
    await until(async () => (await count503(test.app)) >= 3);
    storeIsAway = false;
    const { exitCode, output, result } = await ended;
    expect(exitCode, output).toBe(0);
    expect(result).toMatchObject({
      answer: "about about a trip to Zürichabout about a trip to Zürich",
      displayName: "The whole trip",
    });

    const calls = (result.calls as string[]).map((text) => JSON.parse(text) as StoredCall);
    expect(await usageByName(calls)).toEqual({
      agent: [{ [GPT]: [3, 1030, 15, 0], [CLAUDE]: [1, 7, 3, 100] }],
      search: [{ [GPT]: [1, 20, 5, 0], [CLAUDE]: [1, 7, 3, 100] }],
      askGpt: [{ [GPT]: [1, 10, 5, 0] }, { [GPT]: [1, 20, 5, 0] }, { [GPT]: [1, 1000, 5, 0] }],
      askClaude: [{ [CLAUDE]: [1, 7, 3, 100] }],
      remember: [{}],
      broken: [{ [GPT]: [1, 1000, 5, 0] }],
    });

    const named = Object.fromEntries(calls.map((call) => [nameOf(call), call]));
    expect(named["agent"]).toMatchObject({
      parent_id: null,
      attributes: { weave: { source: "js-sdk" }, run: "nightly" },
      inputs: { arg0: "a trip to Zürich" },
      output: result.answer,
      summary: { weave: { status: "success", trace_name: "The whole trip" } },
    });
    expect(named["search"]).toMatchObject({ display_name: "search for about a trip to Zürich" });
    expect(named["broken"]).toMatchObject({
      exception: "the tool is broken",
      summary: { weave: { status: "error" } },
    });
    expect(named["askClaude"]!.summary.weave.costs[CLAUDE]).toMatchObject({ requests: 1, prompt_tokens: 7 });
  });

  it("publishes datasets, evaluates, and logs scores as feedback", async () => {
    const { exitCode, output, result } = await run("weave-evaluation.ts");
    expect(exitCode, output).toBe(0);
    expect(output).not.toMatch(/error(?!s\))/i);
    expect(result.ref).toMatch(new RegExp(`^weave:///${PROJECT}/object/grammar:[0-9A-Za-z]{43}$`));
    expect(result.loaded).toMatchObject([
      { id: "0", sentence: "He no likes ice cream.", big: 2 ** 53 - 1 },
      { id: "1", sentence: "Sie mögen 🍦.", nothing: null },
    ]);
    expect(result.summary).toMatchObject({ isShort: { true_count: 1, true_fraction: 0.5 } });

    const roots = await test.post("/trace/usage", {
      project_id: PROJECT,
      filter: { trace_roots_only: true },
    });
    const evaluated = Object.values(roots.json().call_usage as Record<string, Record<string, object>>);
    expect(evaluated.filter((usage) => "gpt-4o" in usage)).toMatchObject([
      { "gpt-4o": { requests: 2, prompt_tokens: 20, completion_tokens: 4 } },
    ]);

    const stats = await test.post("/feedback/stats", {
      project_id: PROJECT,
      start: "2020-01-01T00:00:00Z",
      feedback_type: "wandb.runnable.acc",
      metrics: [{ json_path: "output", aggregations: ["avg", "count"] }],
    });
    expect(stats.json().window_stats).toEqual({ output: { avg: 0.75, count: 2 } });
  });

  it.runIf(hasProgram("openssl"))("logs in and names a project without its entity, behind TLS", async () => {
    const front = await startTlsProxy(url);
    try {
      const { exitCode, output, result } = await runProgram("weave-login.ts", {
        KEY: ROOT_KEY,
        WANDB_BASE_URL: front.url,
        NODE_EXTRA_CA_CERTS: front.certificatePath,
      });
      expect(exitCode, output).toBe(0);
      expect(result).toEqual({ project: "default/by-name", calls: 1 });
    } finally {
      front.close();
    }
  });
});
