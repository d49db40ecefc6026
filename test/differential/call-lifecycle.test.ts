import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { live, type Service } from "../models/call-model/live.ts";
import { replicaOf } from "../models/call-model/replica.ts";
import { events, sequence } from "../models/call-model/steps.ts";
import { sql } from "../../src/query/sql.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";

const SEQUENCES = runs(2, 80);
/** How long one run looks for the smallest sequence that fails. */
const SHRINKING_MS = Number(process.env["SHRINKING_MS"] ?? 180_000);
/** Sequences that are run in step with each other, in projects beside each other, each of which is read as a whole. */
const PROJECTS = 4;
const LANES = Number(process.env["LANES"] ?? Math.min(Math.ceil(SEQUENCES / PROJECTS), 200));
const settings = {
  RATE_LIMIT_PER_MINUTE: "1000000000",
  KEY_MAX_CONCURRENT: "100000",
};
const { seed, ...seeded } = seededRandom();
let store: TestEngine;
let replicas: [TestApp, TestApp];

beforeAll(async () => {
  store = await startEngine();
  replicas = [await startReplica(0), await startReplica(1)];
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await store.close();
});

/** The clock of the second is an hour behind. */
function startReplica(replica: 0 | 1): Promise<TestApp> {
  const clock = { now: () => Date.now() - replica * 3_600_000 };
  return startAppOn(store.engine, { settings, deps: { clock } });
}

async function restart(replica: 0 | 1): Promise<void> {
  await replicas[replica].close();
  replicas[replica] = await startReplica(replica);
}

const service: Service = {
  replicas: () => [replicaOf(replicas[0].app), replicaOf(replicas[1].app)],
  restart,
  materialize: async () => void (await materializeAll(store.engine)),
  random: () => seeded.next(),
};

/** Makes the next run, in projects of its own, cost what this one did. */
async function emptyStore(): Promise<void> {
  for (const table of [
    sql`calls`,
    sql`call_keys`,
    sql`trace_hours`,
    sql`multi_hour_traces`,
    sql`usage_rollup`,
    sql`pending_call_events`,
    sql`deletions`,
  ])
    await store.engine.command(sql`TRUNCATE TABLE ${table}`, { name: "truncate" });
}

describe("calls", () => {
  it(
    `match the contract after each step of ${SEQUENCES} sequences, seed ${seed}`,
    { timeout: 36_000_000 },
    async () => {
      const done = { sequences: 0 };
      const sequences = fc.array(sequence, { minLength: 1, maxLength: LANES, size: "max" });
      const lives = fc.array(fc.record({ sequences, events }), {
        minLength: 1,
        maxLength: PROJECTS,
        size: "max",
      });
      const property = fc.asyncProperty(lives, async (these) => {
        await live(these, service);
        done.sequences += these.flatMap((life) => life.sequences).length;
      });
      for (let run = 0; done.sequences < SEQUENCES; run++) {
        await fc.assert(property, {
          seed: seed + run,
          numRuns: 1,
          interruptAfterTimeLimit: SHRINKING_MS,
          markInterruptAsFailure: true,
        });
        await emptyStore();
        if (SEQUENCES >= 1000) process.stdout.write(`seed ${seed}: ${done.sequences} sequences\n`);
      }
    },
  );
});
