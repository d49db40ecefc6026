import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { live, type Service } from "../models/call-model/live.ts";
import { replicaAt } from "../models/call-model/replica.ts";
import { sequence, MAX_STEPS } from "../models/call-model/steps.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const RUNS = runs(1, 3);
const { seed, ...seeded } = seededRandom();
const dir = mkdtempSync(join(tmpdir(), "sumtree-killed-lives-"));
const settings = {
  DATA_DIR: dir,
  ROOT_API_KEY: ROOT_KEY,
  RATE_LIMIT_PER_MINUTE: "1000000000",
  KEY_MAX_CONCURRENT: "100000",
};

let one: ServiceProcess;
beforeAll(async () => {
  one = await startProcess(settings);
});
afterAll(async () => {
  await one.end("SIGTERM");
  rmSync(dir, { recursive: true, force: true });
});

const service: Service = {
  replicas: () => [replicaAt(one.url), replicaAt(one.url)],
  async restart() {
    await one.end("SIGKILL");
    one = await startProcess(settings);
  },
  materialize: () => Promise.resolve(),
  random: () => seeded.next(),
};

/** Two kills, and sometimes a deletion of the project. */
const events = fc
  .tuple(fc.nat(MAX_STEPS - 1), fc.nat(MAX_STEPS - 1), fc.option(fc.nat(MAX_STEPS - 1)))
  .map(([first, second, deletion]) => [
    { step: first, what: "restart" as const, replica: 0 as const },
    { step: second, what: "restart" as const, replica: 0 as const },
    ...(deletion === null
      ? []
      : [{ step: deletion, what: "delete project meanwhile" as const, replica: 0 as const }]),
  ]);

describe("a process killed between two steps", () => {
  it(`keeps what it has acknowledged, seed ${seed}`, { timeout: 3_600_000 }, async () => {
    const sequences = fc.array(sequence, { minLength: 20, maxLength: 40, size: "max" });
    const lives = fc.array(fc.record({ sequences, events }), { minLength: 1, maxLength: 2, size: "max" });
    const property = fc.asyncProperty(lives, (these) => live(these, service));
    await fc.assert(property, { seed, numRuns: RUNS, endOnFailure: true });
  });
});
