import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../helpers/client-program.ts";
import { rootTotals, sendAsCalls, type Entries } from "../helpers/served-usage.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, UPSTREAM_KEY, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
let url = "";
beforeAll(async () => {
  test = await startGateway();
  url = `http://127.0.0.1:${test.port}`;
});
afterAll(() => test.close());

const callCount = async (project_id: string) =>
  (await test.post("/calls/query_stats", { project_id })).json().count as number;

interface Run {
  readonly program: string;
  readonly client: string;
  readonly project: string;
  readonly throughGateway: boolean;
}

/** Runs a client and returns what its roots used, and what the provider says it served. */
async function run({
  program,
  client,
  project,
  throughGateway,
}: Run): Promise<{ told: Entries; served: Entries }> {
  await setPrices(project);
  const { exitCode, output, result } = await runProgram(program, {
    CLIENT: client,
    PROJECT: project,
    BASE_URL: throughGateway ? test.baseUrl : test.upstream.url,
    API_KEY: throughGateway || program === "weave-gateway.ts" ? ROOT_KEY : UPSTREAM_KEY,
    OTLP_URL: `${url}/otel/v1/traces`,
    OTLP_KEY: ROOT_KEY,
    WANDB_API_KEY: ROOT_KEY,
    WF_TRACE_SERVER_URL: url,
  });
  expect(exitCode, output).toBe(0);
  if (throughGateway) await until(async () => (await gatewayCalls(project)) === result.served.length);
  const told = await rootTotals(test, project);
  const served = await sendAsCalls(test, {
    project,
    trace: "by-hand",
    startedAt: new Date().toISOString(),
    answers: result.served,
  });
  return { told, served };
}

async function gatewayCalls(project_id: string): Promise<number> {
  const query = { $expr: { $eq: [{ $getField: "attributes.sumtree.source" }, { $literal: "gateway" }] } };
  return (await test.post("/calls/query_stats", { project_id, query })).json().count as number;
}

async function setPrices(project_id: string): Promise<void> {
  const price = {
    prompt_token_cost: 0.001,
    completion_token_cost: 0.003,
    cache_read_input_token_cost: 0.0001,
    effective_date: "2020-01-01T00:00:00Z",
  };
  const costs = { "forest-1-2026-11-01": price, "forest-2-2026-11-01": price };
  expect((await test.post("/cost/create", { project_id, costs })).status).toBe(200);
}

const CLIENTS = ["ai-sdk", "opentelemetry", "openllmetry", "stacked"];

describe("an instrumented client", () => {
  it.each(CLIENTS)("%s through the gateway has the usage and costs of the provider", async (client) => {
    const project = `gateway/${client}`;
    const { told, served } = await run({ program: "instrumented.ts", client, project, throughGateway: true });
    expect(told).toEqual(served);
    // the model's span, the one of its request, and the gateway's call, twice, below one root
    expect(await callCount(project)).toBeGreaterThanOrEqual(7);
  });

  it.each([
    ["ai-sdk", ["forest-1", "forest-2"]],
    ["opentelemetry", ["forest-1", "forest-2"]],
    ["openllmetry", ["forest-1"]], // it tells no usage of streams
    ["stacked", ["forest-1"]],
  ])(
    "%s without the gateway has the usage of the provider, as far as it sends it",
    async (client, models) => {
      const project = `alone/${client}`;
      const { told, served } = await run({
        program: "instrumented.ts",
        client,
        project,
        throughGateway: false,
      });
      const llms = models.map((model) => `${model}-2026-11-01`);
      expect(Object.keys(told).toSorted()).toEqual(llms);
      for (const llm of llms) {
        const { requests, prompt_tokens, completion_tokens, total_tokens } = served[llm]!;
        expect(told[llm]).toMatchObject({ requests, prompt_tokens, completion_tokens, total_tokens });
      }
    },
  );

  it("weave through the gateway, with a call by each, has the usage and costs of the provider", async () => {
    const project = "gateway/weave";
    const { told, served } = await run({
      program: "weave-gateway.ts",
      client: "weave",
      project,
      throughGateway: true,
    });
    expect(told).toEqual(served);
    expect(await callCount(project)).toBe(5);
  });
});
