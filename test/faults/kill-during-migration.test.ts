import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { spawnProcess, startProcess } from "../helpers/service-process.ts";
import { until } from "../helpers/until.ts";

const KILLS = runs(3, 15);
const KILLS_PER_DIRECTORY = 3;
const random = seededRandom();

type Service = Awaited<ReturnType<typeof startProcess>>;

const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function freshSettings(fill: (dir: string) => void) {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-migration-"));
  dirs.push(dir);
  fill(dir);
  return { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };
}

type Settings = ReturnType<typeof freshSettings>;

/** A process that has just begun to open the store. */
async function opening(settings: Settings) {
  const child = spawnProcess(settings);
  const gone = once(child, "exit");
  const hasTheStore = (): boolean => {
    try {
      return readFileSync(join(settings.DATA_DIR, "status"), "utf8").includes(`PID: ${child.pid}\n`);
    } catch {
      return false;
    }
  };
  await until(hasTheStore);
  return {
    lines: createInterface({ input: child.stdout }),
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** From when the store is opened until all migrations are applied. */
async function migratingMs(fill: (dir: string) => void): Promise<number> {
  const child = await opening(freshSettings(fill));
  const began = performance.now();
  for await (const line of child.lines) if (line.includes("store ready")) break;
  const took = performance.now() - began;
  await child.kill();
  return took;
}

/** None as long as the engine has not made its directory for them. */
function tablesIn({ DATA_DIR }: Settings): number {
  const store = join(DATA_DIR, "store");
  if (!existsSync(store)) return 0;
  const files = readdirSync(store, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".sql")).length;
}

/** Checks the result of a start after any number of killed starts. */
async function startAfterKills(fill: (dir: string) => void, check: (service: Service) => Promise<void>) {
  const took = await migratingMs(fill);
  const tables: number[] = [];
  for (let kill = 0; kill < KILLS; kill += KILLS_PER_DIRECTORY) {
    const settings = freshSettings(fill);
    for (let turn = 0; turn < KILLS_PER_DIRECTORY; turn++) {
      const child = await opening(settings);
      await delay(took * random.next());
      await child.kill();
      tables.push(tablesIn(settings));
    }
    const service = await startProcess(settings);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await check(service);
    expect(await service.end("SIGTERM")).toBe(0);
  }
  process.stdout.write(`killed when there were ${tables.join(", ")} tables\n`);
}

describe(`kill -9 during migrations (seed ${random.seed}, ${KILLS} kills)`, () => {
  it("leaves an empty directory that the next start completes", () =>
    startAfterKills(
      () => undefined,
      async (service) => {
        const project_id = "acme/started";
        const start = {
          project_id,
          id: "c",
          trace_id: "t",
          op_name: "op",
          started_at: "2026-01-01T00:00:00Z",
        };
        expect((await service.post("/call/start", { start })).status).toBe(200);
        const response = await (await service.post("/trace/usage", { project_id })).json();
        expect(response).toEqual({ call_usage: { c: {} }, unfinished_call_ids: ["c"] });
      },
    ));
});
