import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { spawnProcess, startProcess } from "../helpers/service-process.ts";

const KILLS = Number(process.env["KILLS"] ?? 6);
const KILLS_PER_DIRECTORY = 3;

const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function freshSettings() {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-migration-"));
  dirs.push(dir);
  return { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };
}

/** Starts on an empty directory take this long, migrations included. */
async function startMs(): Promise<number> {
  const began = performance.now();
  const service = await startProcess(freshSettings());
  const took = performance.now() - began;
  await service.end("SIGKILL");
  return took;
}

describe("kill -9 while the service starts on an empty directory", () => {
  it(
    `leaves a directory that the next start completes, over ${KILLS} kills`,
    { timeout: 300_000 },
    async () => {
      const took = await startMs();
      for (let kill = 0; kill < KILLS; kill += KILLS_PER_DIRECTORY) {
        const settings = freshSettings();
        for (let turn = 0; turn < KILLS_PER_DIRECTORY; turn++) {
          const child = spawnProcess(settings);
          const gone = once(child, "exit");
          await delay(took * (0.3 + 0.7 * Math.random()));
          child.kill("SIGKILL");
          await gone;
        }
        const service = await startProcess(settings);
        expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
        const project_id = "acme/started";
        const start = {
          project_id,
          id: "c",
          trace_id: "t",
          op_name: "op",
          started_at: "2026-01-01T00:00:00Z",
        };
        expect((await service.post("/call/start", { start })).status).toBe(200);
        const answer = await (await service.post("/trace/usage", { project_id })).json();
        expect(answer).toEqual({ call_usage: { c: {} }, unfinished_call_ids: ["c"] });
        expect(await service.end("SIGTERM")).toBe(0);
      }
    },
  );
});
