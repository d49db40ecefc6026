import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const KILLS = runs(1, 10);
const WRITERS = 6;
const random = seededRandom();

const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };
const project_id = "acme/kill";

/** Last acknowledged value of an id, and the value sent after it without a response. */
const acknowledged = new Map<string, number>();
const unanswered = new Map<string, number>();

async function send(service: ServiceProcess, id: string, n: number): Promise<boolean> {
  unanswered.set(id, n);
  const body = {
    project_id,
    id,
    weave_ref: "weave:///acme/kill/call/1",
    feedback_type: "custom",
    payload: { n },
  };
  try {
    const response = await service.post("/feedback/create", body);
    await response.arrayBuffer();
    if (!response.ok) return false;
  } catch {
    return false;
  }
  acknowledged.set(id, n);
  unanswered.delete(id);
  return true;
}

/** Sends feedback, every third one again with another value, until the service is killed. */
async function write(service: ServiceProcess, writer: string): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `${writer}-${n - (n % 3 === 2 ? 1 : 0)}`;
    if (!(await send(service, id, n))) return;
  }
}

describe(`kill -9 during feedback writes (seed ${random.seed})`, () => {
  it(`keeps acknowledged feedback, each id once, over ${KILLS} kills`, async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const service = await startProcess(settings);
      // retry requests without a response, as clients do
      await Promise.all([...unanswered].map(([id, n]) => send(service, id, n)));
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(service, `k${kill}w${writer}`));
      const enough = acknowledged.size + 3 + random.next() * 60;
      await until(() => acknowledged.size > enough);
      await delay(random.next() * 60);
      await service.end("SIGKILL");
      await Promise.all(writers);
    }
    expect(acknowledged.size).toBeGreaterThan(KILLS * 3);

    const service = await startProcess(settings);
    const response = await service.post("/feedback/query", {
      project_id,
      fields: ["id", "payload"],
      limit: 10_000,
    });
    const { result } = (await response.json()) as { result: { id: string; payload: { n: number } }[] };
    expect(new Set(result.map((row) => row.id)).size).toBe(result.length);
    const stored = new Map(result.map((row) => [row.id, row.payload.n]));
    const lost = [...acknowledged].filter(
      ([id, n]) => stored.get(id) !== n && stored.get(id) !== unanswered.get(id),
    );
    expect(lost).toEqual([]);
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
