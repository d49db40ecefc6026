import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forest } from "../models/forests.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import {
  expectSums,
  messagesOf,
  rootsOf,
  step,
  take,
  usageOf,
  WINDOW,
  type Ask,
} from "../models/usage-history.ts";
import { picodollars } from "../models/usage-totals.ts";

const LIVES = runs(1, 5);
const { seed, ...seeded } = seededRandom();
const dir = mkdtempSync(join(tmpdir(), "sumtree-killed-stats-"));
const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };

let one: ServiceProcess;
beforeAll(async () => {
  one = await startProcess(settings);
});
afterAll(async () => {
  await one.end("SIGTERM");
  rmSync(dir, { recursive: true, force: true });
});

const ask: Ask = async (url, body) => {
  const response = await one.post(url, body);
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) };
};

const forests = forest({ maxCalls: 12, inclusive: true, cycles: false, shared: true });

async function kill(): Promise<void> {
  await one.end("SIGKILL");
  one = await startProcess(settings);
}

/** Ids of calls: those that were sent, and those of them that were acknowledged. */
interface Written {
  readonly sent: string[];
  readonly acknowledged: string[];
}

/** Two writers send whole traces; when some are acknowledged, the process is killed while the others are on their way. */
async function writeUntilKilled(project: string): Promise<Written> {
  const written: Written = { sent: [], acknowledged: [] };
  const traces = fc.sample(forests, { numRuns: 60, seed: Math.floor(seeded.next() * 2 ** 31) });
  let left = 3 + Math.floor(seeded.next() * 10);
  let killed: Promise<void> | undefined;
  const write = async (writer: number): Promise<void> => {
    for (let number = writer; number < traces.length && killed === undefined; number += 2) {
      const batch = messagesOf(traces[number]!, `t${number}`);
      written.sent.push(...batch.map(({ id }) => id));
      const response = await ask(`/v2/${project}/calls/complete`, { batch }).catch(() => undefined);
      if (response === undefined) return;
      expect(response.status, response.text).toBe(200);
      written.acknowledged.push(...batch.map(({ id }) => id));
      if (--left === 0) killed = kill();
    }
  };
  await Promise.all([write(0), write(1)]);
  expect(killed).toBeDefined();
  await killed;
  return written;
}

/** Groups and the rest, and buckets, are the total, and that is what the roots used. Returns the number of calls. */
async function expectRoots(project_id: string): Promise<number> {
  let calls = 0;
  for (const group_by of [["llm", "status"], ["trace_id"], ["api_key", "op_name"]]) {
    const response = await ask("/usage/stats", { project_id, ...WINDOW, group_by, limit: 3 });
    expect(response.status, response.text).toBe(200);
    expectSums(response.json());
    const roots = await rootsOf(ask, project_id);
    expect(picodollars(usageOf(response.json().total))).toEqual(picodollars(usageOf(roots)));
    calls = response.json().total.calls as number;
  }
  return calls;
}

describe("POST /usage/stats of a killed process", () => {
  it(`counts acknowledged calls, and sums to the roots, seed ${seed}`, { timeout: 3_600_000 }, async () => {
    for (let life = 0; life < LIVES; life++) {
      const project = `acme/killed-stats-${life}`;
      const { sent, acknowledged } = await writeUntilKilled(project);
      const calls = await expectRoots(project);
      expect(calls).toBeGreaterThanOrEqual(acknowledged.length);
      expect(calls).toBeLessThanOrEqual(sent.length);

      const ids = acknowledged.filter((id) => !id.endsWith("-top"));
      const steps = fc.sample(step, { numRuns: 4, seed: Math.floor(seeded.next() * 2 ** 31) });
      if (ids.length > 0)
        for (const [number, taken] of steps.entries()) await take(ask, taken, { project, ids, number });
      const before = await expectRoots(project);
      await kill();
      expect(await expectRoots(project)).toBe(before);
    }
  });
});
