import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEmbedded } from "../../src/store/connect.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { trusted } from "../../src/query/sql.ts";
import { CHILD_ENVIRONMENT } from "../helpers/child-environment.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { spawnProcess } from "../helpers/service-process.ts";
import { ROOT_KEY, startAppOn } from "../helpers/start-app.ts";

const KILLS = runs(1, 5);
const HOURS = 24;
/** Projects whose hours the service materializes by itself. */
const PROJECTS = ["acme/hours", "acme/others"] as const;
const ALL_HOURS = HOURS * PROJECTS.length;
const { seed, ...seeded } = seededRandom();
const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "../../scripts/usage-rollup.ts");
const dataDir = mkdtempSync(join(tmpdir(), "sumtree-rollup-"));
const env = { ...CHILD_ENVIRONMENT, DATA_DIR: dataDir };
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function rollup(...words: readonly string[]) {
  try {
    return { code: 0, ...(await run(process.execPath, [SCRIPT, ...words], { env })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

/** Begins to rebuild the rollup, and is killed at some moment. */
async function killRebuild(): Promise<void> {
  const child = spawn(process.execPath, [SCRIPT, "rebuild"], { env, stdio: "ignore" });
  const exit = once(child, "exit");
  setTimeout(() => child.kill("SIGKILL"), 400 + seeded.next() * 1500);
  await exit;
}

const question = {
  project_id: "acme/hours",
  start: "2026-01-01T00:00:00Z",
  end: "2026-01-03T00:00:00Z",
  granularity: 3600,
  group_by: ["llm", "op_name"],
  include_costs: true,
};

/**
 * Starts the service with an empty rollup, and lets it be killed while its own materializer writes.
 */
async function killMaterializer(moment: string): Promise<void> {
  await inStore("TRUNCATE TABLE usage_rollup");
  const child = spawnProcess({
    DATA_DIR: dataDir,
    ROOT_API_KEY: ROOT_KEY,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "programs/kill-materializer.ts")}`,
    KILL_MATERIALIZER: moment,
  });
  child.stdout.resume();
  child.stderr.resume();
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  expect(signal).toBe("SIGKILL");
}

/** Milliseconds after a write has begun, or before or after it; and which write. */
const MOMENTS = ["before 1", "0 1", "2 1", "10 1", "after 1", "before 2", "0 2", "2 2", "10 2", "after 2"];

/** Reads the usage of all hours from the service. */
async function served(): Promise<unknown> {
  const engine = await openEmbedded(dataDir);
  const service = await startAppOn(engine, { settings: { DATA_DIR: dataDir } });
  try {
    const response = await service.post("/usage/stats", question);
    expect(response.status).toBe(200);
    return response.json();
  } finally {
    await service.close();
    await engine.close();
  }
}

async function inStore(statement: string): Promise<void> {
  const engine = await openEmbedded(dataDir);
  await engine.command(trusted(statement), { name: "test", limits: "maintenance" });
  await engine.close();
}

describe("npm run usage-rollup", () => {
  let live: unknown;
  beforeAll(async () => {
    const engine = await openEmbedded(dataDir);
    await migrate(engine, { cluster: undefined });
    const service = await startAppOn(engine, { settings: { DATA_DIR: dataDir } });
    for (let hour = 0; hour < HOURS; hour++) {
      const started_at = new Date(Date.UTC(2026, 0, 1, hour, 30)).toISOString();
      const batch = Array.from({ length: 40 }, (_, number) => ({
        id: `${hour}-${number}`,
        trace_id: number % 5 === 0 ? `t-${Math.floor(hour / 3)}` : `t-${hour}-${number % 5}`,
        op_name: `op-${number % 3}`,
        started_at,
        ended_at: started_at,
        inputs: {},
        attributes: {},
        output: null,
        summary: {
          usage: { "gpt-4o": { requests: 1, prompt_tokens: 100 + number, completion_tokens: hour } },
        },
      }));
      for (const project of PROJECTS)
        expect((await service.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200);
    }
    await service.close();
    await engine.close();
    live = await served();
  }, 120_000);

  it(`is correct after each kill during a rebuild, seed ${seed}`, { timeout: 300_000 }, async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      await killRebuild();
      expect(await served()).toEqual(live);
      expect(await rollup("check")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(" 0 of them different"),
      });
    }
    expect(await rollup("rebuild")).toMatchObject({
      code: 0,
      stdout: `${ALL_HOURS} hours materialized, 0 left to be aggregated at query time.\n`,
    });
    expect(await rollup("check")).toMatchObject({
      code: 0,
      stdout: `${ALL_HOURS} hours materialized, 0 of them different; 0 aggregated at query time.\n`,
    });
    expect(await served()).toEqual(live);
  });

  it("finds hours that differ from their calls, and rebuilds them", { timeout: 120_000 }, async () => {
    const places =
      "project_id = 'acme/hours' AND (kind > 0, hour, first_hour = last_hour) IN ((1, 490900, 1), (1, 490901, 0))";
    const change = `requests = requests + 1 WHERE ${places}`;
    await inStore(`ALTER TABLE usage_rollup UPDATE ${change} SETTINGS mutations_sync = 2`);
    expect(await rollup("check")).toMatchObject({
      code: 1,
      stdout:
        "different: acme/hours 2026-01-01T04:00:00.000Z\ndifferent: acme/hours 2026-01-01T05:00:00.000Z\n" +
        `${ALL_HOURS} hours materialized, 2 of them different; 0 aggregated at query time.\n`,
    });
    await rollup("rebuild");
    expect(await rollup("check")).toMatchObject({ code: 0 });
  });

  it("is correct after its materializer was killed", { timeout: 600_000 }, async () => {
    for (const moment of MOMENTS) {
      await killMaterializer(moment);
      expect(await served(), moment).toEqual(live);
      expect(await rollup("check"), moment).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(" 0 of them different"),
      });
    }
  });

  it("prints its usage", async () => {
    expect(await rollup("--help")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("npm run usage-rollup -- check"),
    });
    expect(await rollup("burn")).toMatchObject({ code: 2 });
  });
});
