import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { startProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const SECONDS = 10;
const CONCURRENT = 32;
const CALLS_PER_BATCH = 50;
const project_id = "acme/load";
const dataDir = mkdtempSync(join(tmpdir(), "sumtree-overload-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const idsOf = (batch: number): string[] =>
  Array.from({ length: CALLS_PER_BATCH }, (_, n) => `b${batch}-c${n}`);

function batchOf(batch: number): object {
  const ids = idsOf(batch);
  const call = (id: string, n: number): object => ({
    id,
    trace_id: `b${batch}`,
    parent_id: n === 0 ? null : ids[0],
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    ended_at: "2026-01-01T00:00:01Z",
    inputs: { text: "lorem ipsum ".repeat(60) },
    summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 10, completion_tokens: 5 } } },
  });
  return { batch: ids.map(call) };
}

it(`twice the possible load for ${SECONDS} s is rejected, and nothing acknowledged is lost`, async () => {
  const service = await startProcess({
    DATA_DIR: dataDir,
    ROOT_API_KEY: ROOT_KEY,
    KEY_MAX_CONCURRENT: String(CONCURRENT),
  });
  const acknowledged: string[] = [];
  const refused: string[] = [];
  let served = 0;
  const send = async (path: string, body: object): Promise<boolean> => {
    const response = await service.post(path, body);
    await response.arrayBuffer();
    if (response.ok) served++;
    else refused.push(`${response.status}, ${response.headers.get("retry-after")}`);
    return response.ok;
  };
  const write = async (batch: number): Promise<void> => {
    if (await send(`/v2/${project_id}/calls/complete`, batchOf(batch))) acknowledged.push(...idsOf(batch));
  };
  const ask = (batch: number): Promise<boolean> =>
    send("/trace/usage", { project_id, filter: { trace_ids: [`b${batch}`] }, include_costs: true });

  // for each request that it serves two more are sent, and from the start more than it takes at once
  const sent: Promise<unknown>[] = [];
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end) {
    while (sent.length < 2 * (CONCURRENT + served))
      sent.push(sent.length % 3 === 2 ? ask(Math.floor(sent.length / 2)) : write(sent.length));
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    await delay(5);
  }
  await Promise.all(sent);
  expect(refused.filter((one) => !/^(?:429|503), [1-9]/.test(one))).toEqual([]);
  expect([acknowledged.length > 0, refused.length > 0]).toEqual([true, true]);

  // afterwards it has every acknowledged call, each once
  const usage = await service.post("/trace/usage", { project_id, limit: 1_000_000 });
  const { call_usage } = (await usage.json()) as {
    call_usage: Record<string, Record<string, { requests: number }>>;
  };
  const wrong = acknowledged.filter(
    (id) => call_usage[id]?.["gpt-4o"]?.requests !== (id.endsWith("-c0") ? CALLS_PER_BATCH : 1),
  );
  expect(wrong).toEqual([]);
  expect(await service.end("SIGTERM")).toBe(0);
});
