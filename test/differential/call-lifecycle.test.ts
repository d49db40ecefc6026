import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { Lane } from "../helpers/call-model/lane.ts";
import { checkReads, checkStream } from "../helpers/call-model/reads.ts";
import type { Change } from "../helpers/call-model/state.ts";
import { events, sequence, type Event, type Step } from "../helpers/call-model/steps.ts";
import { takeStep, type World } from "../helpers/call-model/take-step.ts";
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
/** Sequences that are run in step with each other, in one project, and are read together. */
const LANES = 25;
const settings = {
  INGEST_LINGER_MS: "1",
  RATE_LIMIT_PER_MINUTE: "1000000000",
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

async function deleteProject(world: World, replica: 0 | 1): Promise<void> {
  const answer = await world.replicas[replica].app.inject({
    method: "DELETE",
    url: `/projects/${world.project}`,
    headers: { authorization: authorization() },
  });
  if (answer.statusCode !== 202) throw new Error(`DELETE: ${answer.statusCode} ${answer.payload}`);
}

async function restart(replica: 0 | 1): Promise<void> {
  await replicas[replica].close();
  replicas[replica] = await startAppOn(store.engine, { settings });
}

/** Takes all sequences one step further, and reads what has come of it. */
async function advance(
  world: World,
  lanes: readonly { readonly lane: Lane; readonly step: Step | undefined }[],
  happening: readonly Event[],
): Promise<void> {
  for (const { what, replica } of happening) {
    if (what === "restart") await restart(replica);
    if (what !== "delete project") continue;
    await deleteProject(world, replica);
    for (const { lane } of lanes) {
      lane.forgetTraces();
      lane.change([PROJECT_DELETION]);
    }
  }
  const deletions = happening.filter(({ what }) => what === "delete project meanwhile");
  const meanwhile = deletions.map(() => PROJECT_DELETION);
  await Promise.all([
    ...deletions.map(({ replica }) => deleteProject(world, replica)),
    ...lanes.map(({ lane, step = [] }) => takeStep(lane, step, { world, meanwhile })),
  ]);
  await checkStream({ lanes: lanes.map(({ lane }) => lane), world, random });
}

async function live(sequences: readonly (readonly Step[])[], events: readonly Event[]): Promise<void> {
  const world: World = { project: `acme/lives-${projects++}`, replicas };
  const lanes = sequences.map((_, index) => new Lane(`l${index}`));
  const length = Math.max(...sequences.map((steps) => steps.length));
  for (let at = 0; at < length; at++) {
    const moving = lanes.map((lane, index) => ({ lane, step: sequences[index]![at] }));
    const happening = events.filter((event) => event.step === at);
    await advance(world, moving, happening);
  }
  await checkReads({ lanes, world, random });
}

describe("calls", () => {
  it(
    `are what the contract says after each step of ${SEQUENCES} sequences, seed ${seed}`,
    { timeout: 36_000_000 },
    async () => {
      const done = { sequences: 0 };
      const sequences = fc.array(sequence, { minLength: 1, maxLength: LANES, size: "max" });
      const property = fc.asyncProperty(sequences, events, async (steps, happening) => {
        await live(steps, happening);
        done.sequences += steps.length;
      });
      for (let run = 0; done.sequences < SEQUENCES; run++)
        await fc.assert(property, {
          seed: seed + run,
          numRuns: 1,
          interruptAfterTimeLimit: SHRINKING_MS,
          markInterruptAsFailure: true,
        });
    },
  );
});
