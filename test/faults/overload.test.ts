import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";

const SECONDS = 30;
const CONCURRENT = 32;
const CALLS_PER_BATCH = 50;
const MIB = 1024 * 1024;
const dataDir = mkdtempSync(join(tmpdir(), "sumtree-overload-"));
const agent = new Agent({ keepAlive: true, maxSockets: 1000 });
afterAll(() => {
  agent.destroy();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

function send(service: ServiceProcess, path: string, payload: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: authorization(), "content-type": "application/json" };
    const sent = request(new URL(path, service.url), { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("error", reject);
      response.once("end", () =>
        resolve({ status: response.statusCode!, retryAfter: response.headers["retry-after"] }),
      );
    });
    sent.once("error", reject);
    sent.end(payload);
  });
}

/** Writes and questions in turn; keeps the ids of calls whose write was acknowledged. */
function createLoad(service: ServiceProcess) {
  const acknowledged: string[] = [];
  const responses: Answer[] = [];
  let count = 0;
  const write = async (): Promise<void> => {
    const number = count++;
    const ids = Array.from({ length: CALLS_PER_BATCH }, (_, n) => `b${number}-c${n}`);
    const batch = ids.map((id, n) => ({
      id,
      trace_id: `b${number}`,
      parent_id: n === 0 ? null : ids[0],
      op_name: "op",
      started_at: "2026-01-01T00:00:00Z",
      ended_at: "2026-01-01T00:00:01Z",
      inputs: { text: "lorem ipsum ".repeat(60) },
      attributes: {},
      output: "done",
      summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 10, completion_tokens: 5 } } },
    }));
    const response = await send(service, "/v2/acme/load/calls/complete", JSON.stringify({ batch }));
    responses.push(response);
    if (response.status === 200) acknowledged.push(...ids);
  };
  const ask = async (): Promise<void> => {
    const filter = { trace_ids: [`b${Math.floor(count / 2)}`] };
    const body = JSON.stringify({ project_id: "acme/load", filter, include_costs: true });
    responses.push(await send(service, "/trace/usage", body));
  };
  const carried = (): number => responses.filter((response) => response.status === 200).length;
  return {
    acknowledged,
    answers: responses,
    carried,
    one: (): Promise<void> => (count % 3 === 2 ? ask().then(write) : write()),
  };
}

it(`twice the sustainable load for ${SECONDS} s is rejected, and nothing acknowledged is lost`, async () => {
  const service = await startProcess({
    DATA_DIR: dataDir,
    ROOT_API_KEY: ROOT_KEY,
    KEY_MAX_CONCURRENT: String(CONCURRENT),
    STORE_MAX_WAITING: "50",
    STORE_MAX_WAIT_MS: "2000",
    INGEST_MAX_PENDING_BYTES: String(4 * MIB),
    MAX_BODY_BYTES_IN_FLIGHT: String(16 * MIB),
  });
  const load = createLoad(service);

  // clients that wait for their answers warm it up
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (load.carried() < 60) await load.one();
    }),
  );
  load.answers.length = 0;

  // for each request that it carries two more are sent, and from the start more than it takes at once
  const sent: Promise<void>[] = [];
  const end = performance.now() + SECONDS * 1000;
  const watching = (async () => {
    while (performance.now() < end) {
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
      await delay(500);
    }
  })();
  while (performance.now() < end) {
    const due = 2 * (CONCURRENT + load.carried());
    while (sent.length < due) sent.push(load.one());
    await delay(5);
  }
  await Promise.all(sent);
  await watching;

  const statuses = Map.groupBy(load.answers, (response) => response.status);
  const rejected = load.answers.filter((response) => response.status !== 200);
  expect([...statuses.keys()].filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
  expect(statuses.get(200)?.length).toBeGreaterThan(0);
  expect(rejected.length).toBeGreaterThan(0);
  for (const { retryAfter } of rejected) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);

  // afterwards it works as before, and has every acknowledged call, each once
  expect((await send(service, "/trace/usage", '{"project_id":"acme/load","limit":1}')).status).toBe(200);
  const usage = await service.post("/trace/usage", { project_id: "acme/load", limit: 1_000_000 });
  const { call_usage } = (await usage.json()) as {
    call_usage: Record<string, Record<string, { requests: number }>>;
  };
  const lost = load.acknowledged.filter((id) => call_usage[id] === undefined);
  expect(lost).toEqual([]);
  for (const id of load.acknowledged) {
    const expected = id.endsWith("-c0") ? CALLS_PER_BATCH : 1;
    if (call_usage[id]!["gpt-4o"]!.requests !== expected)
      expect([id, call_usage[id]]).toEqual([id, expected]);
  }
  expect(await service.end("SIGTERM")).toBe(0);
});
