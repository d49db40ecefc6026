import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { Lane } from "../helpers/call-model/lane.ts";
import { checkReads, checkStream } from "../helpers/call-model/reads.ts";
import type { Change } from "../helpers/call-model/state.ts";
import { events, sequence, type Event, type Step } from "../helpers/call-model/steps.ts";
import { takeStep, type World } from "../helpers/call-model/take-step.ts";
import { sql } from "../../src/query/sql.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import {
  authorization,
  startAppOn,
  startEngine,
  type TestApp,
  type TestEngine,
} from "../helpers/start-app.ts";

const SEQUENCES = Number(process.env["SEQUENCES"] ?? 25);
/** How long one run looks for the smallest sequence that fails. */
const SHRINKING_MS = Number(process.env["SHRINKING_MS"] ?? 180_000);
/** Sequences that are run in step with each other, in projects beside each other, each of which is read as a whole. */
const PROJECTS = 4;
const LANES = Number(process.env["LANES"] ?? Math.min(Math.ceil(SEQUENCES / PROJECTS), 200));
const settings = {
  INGEST_LINGER_MS: "1",
  RATE_LIMIT_PER_MINUTE: "1000000000",
  KEY_MAX_CONCURRENT: "100000",
  MAX_EVENT_LOOP_DELAY_MS: "60000",
};
const PROJECT_DELETION: Change = { form: "delete project" };

const { seed, ...seeded } = seededRandom();
const random = (): number => seeded.next();
let store: TestEngine;
let replicas: [TestApp, TestApp];
let projects = 0;

beforeAll(async () => {
  store = await startEngine();
  replicas = [await startAppOn(store.engine, { settings }), await startAppOn(store.engine, { settings })];
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await store.close();
});

async function deleteProject({ project, replicas }: World, replica: 0 | 1): Promise<void> {
  const answer = await replicas[replica].app.inject({
    method: "DELETE",
    url: `/projects/${project}`,
    headers: { authorization: authorization() },
  });
  if (answer.statusCode !== 202) throw new Error(`DELETE: ${answer.statusCode} ${answer.payload}`);
}

async function restart(replica: 0 | 1): Promise<void> {
  await replicas[replica].close();
  replicas[replica] = await startAppOn(store.engine, { settings });
}

interface Life {
  readonly sequences: readonly (readonly Step[])[];
  readonly events: readonly Event[];
}

interface Lived extends Life {
  readonly world: World;
  readonly lanes: readonly Lane[];
}

/** Takes all sequences of a project one step further, and reads what has come of it. */
async function advance({ world, lanes, sequences, events }: Lived, at: number): Promise<void> {
  const happening = events.filter((event) => event.step === at);
  for (const { what, replica } of happening) {
    if (what !== "delete project") continue;
    await deleteProject(world, replica);
    for (const lane of lanes) {
      lane.forgetTraces();
      lane.change([PROJECT_DELETION]);
    }
  }
  const deletions = happening.filter(({ what }) => what === "delete project meanwhile");
  const meanwhile = deletions.map(({ replica }) => ({ change: PROJECT_DELETION, replica }));
  await Promise.all([
    ...deletions.map(({ replica }) => deleteProject(world, replica)),
    ...lanes.map((lane, index) => takeStep(lane, sequences[index]![at] ?? [], { world, meanwhile })),
  ]);
  await checkStream({ lanes, world, random });
}

/** Lives of projects beside each other, that share replicas and so their restarts. */
async function live(lives: readonly Life[]): Promise<void> {
  const lived = lives.map((life): Lived => {
    const lanes = life.sequences.map((_, index) => new Lane(`l${index}`));
    return { ...life, lanes, world: { project: `acme/lives-${projects++}`, replicas } };
  });
  const length = Math.max(...lives.flatMap(({ sequences }) => sequences.map((steps) => steps.length)));
  for (let at = 0; at < length; at++) {
    const happening = lives.flatMap(({ events }) => events.filter((event) => event.step === at));
    for (const replica of [0, 1] as const)
      if (happening.some((event) => event.what === "restart" && event.replica === replica))
        await restart(replica);
    await allOf(lived.map((one) => advance(one, at)));
  }
  await allOf(lived.map(({ lanes, world }) => checkReads({ lanes, world, random })));
}

/** Makes the next run, in projects of its own, cost what this one did. */
async function emptyStore(): Promise<void> {
  for (const table of [
    sql`calls`,
    sql`call_traces`,
    sql`trace_hours`,
    sql`call_hours`,
    sql`parked_parts`,
    sql`deletions`,
  ])
    await store.engine.command(sql`TRUNCATE TABLE ${table}`, { name: "truncate" });
}

/** Waits for all, also when one has failed: what is still under way would meet the next run. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

describe("calls", () => {
  it(
    `are what the contract says after each step of ${SEQUENCES} sequences, seed ${seed}`,
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
        await live(these);
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
