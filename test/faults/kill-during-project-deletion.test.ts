import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const KILLS = runs(1, 10);

const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-project-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };

async function fill(service: ServiceProcess, project: string): Promise<void> {
  const batch = Array.from({ length: 300 }, (_, n) => ({
    id: `c${n}`,
    trace_id: `t${n % 7}`,
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    ended_at: "2026-01-01T00:00:01Z",
  }));
  expect((await service.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200);
}

async function countCalls(service: ServiceProcess, project_id: string): Promise<number> {
  const response = await service.post("/calls/query_stats", { project_id });
  return ((await response.json()) as { count: number }).count;
}

async function ask(service: ServiceProcess, method: string, path: string): Promise<{ id: string }> {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: authorization(ROOT_KEY) },
  });
  expect(response.ok).toBe(true);
  return (await response.json()) as { id: string };
}

const random = seededRandom();

describe("kill -9 during a project deletion", () => {
  it(`loses no receipt, and a retry deletes everything, seed ${random.seed}`, async () => {
    let service = await startProcess(settings);
    await fill(service, "acme/kept");
    for (let kill = 0; kill < KILLS; kill++) {
      const project = `acme/doomed-${kill}`;
      await fill(service, project);
      const asked = ask(service, "DELETE", `/projects/${project}`).catch(() => undefined);
      // at first in the middle of it, at last when the answer is out
      await (kill === KILLS - 1 ? asked : delay(random.next() * 40));
      await service.end("SIGKILL");
      const answered = await asked;
      service = await startProcess(settings);
      const receipt = answered ?? (await ask(service, "DELETE", `/projects/${project}`));
      expect(await ask(service, "GET", `/deletions/${receipt.id}`)).toMatchObject({ what: "project" });
      await until(async () => (await countCalls(service, project)) === 0);
    }
    expect(await countCalls(service, "acme/kept")).toBe(300);
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
