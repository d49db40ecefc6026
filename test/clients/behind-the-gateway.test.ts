import { afterAll, beforeAll, expect, it } from "vitest";
import { runProgram } from "../helpers/client-program.ts";
import { callsOf, nothingLeft } from "../helpers/recorded-calls.ts";
import { isLong } from "../helpers/runs.ts";
import { rootTotals, sendAsCalls } from "../helpers/served-usage.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";

let test: TestGateway;
let url = "";
beforeAll(async () => {
  test = await startGateway();
  url = `http://127.0.0.1:${test.port}`;
});
afterAll(() => test.close());

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

/** Ids of the calls of an instrumented client: the model's span, the one of its request, and the gateway's call, twice, below one root. */
const INSTRUMENTED = 7;

it.each<[client: string, program: string, calls: number]>([
  ["ai-sdk", "instrumented.ts", INSTRUMENTED],
  ["stacked", "instrumented.ts", INSTRUMENTED],
  ["weave", "weave-gateway.ts", 4],
  // what is stacked has both of them
  ...(isLong ? ["opentelemetry", "openllmetry"] : []).map((client): [string, string, number] => [
    client,
    "instrumented.ts",
    INSTRUMENTED,
  ]),
])("%s through the gateway has the usage and costs of the provider", async (client, program, calls) => {
  const project = `gateway/${client}`;
  await setPrices(project);
  const { exitCode, output, result } = await runProgram(program, {
    CLIENT: client,
    PROJECT: project,
    BASE_URL: test.baseUrl,
    API_KEY: ROOT_KEY,
    OTLP_URL: `${url}/otel/v1/traces`,
    OTLP_KEY: ROOT_KEY,
    WANDB_API_KEY: ROOT_KEY,
    WF_TRACE_SERVER_URL: url,
  });
  expect(exitCode, output).toBe(0);
  await nothingLeft(test);
  const stored = await callsOf(test, project);
  const ofGateway = stored.filter(({ attributes }) => attributes.sumtree?.["source"] === "gateway");
  expect(ofGateway).toHaveLength(result.served.length);
  if (client === "weave") expect(stored).toHaveLength(calls);
  else expect(stored.length).toBeGreaterThanOrEqual(calls);
  const told = await rootTotals(test, project);
  const startedAt = new Date().toISOString();
  const byHand = { project, trace: "by-hand", startedAt, answers: result.served };
  expect(told).toEqual(await sendAsCalls(test, byHand));
});
