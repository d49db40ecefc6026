import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { Model } from "../models/noted-places/model.ts";
import { checkReads } from "../models/noted-places/reads.ts";
import { PROJECTS, step, type Step } from "../models/noted-places/steps.ts";
import { takeStep, type Run } from "../models/noted-places/take-step.ts";
import { World } from "../models/noted-places/world.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

const RUNS = runs(1, 8);
const STEPS = 14;
/** Looks for the smallest sequence that fails, for as long as that takes. */
const SHRINK = process.env["SHRINK"] === "1";
const { seed, ...seeded } = seededRandom();

let world: World;
beforeAll(async () => {
  world = await World.open();
}, 120_000);
afterAll(() => world.close());

const where = { project: 0, app: 0 } as const;
const start = (at: number): Step => ({ ...where, does: "start", of: { call: 0, at, tokens: 1 } });
const whole = (call: number): Step => ({ ...where, does: "complete", all: [{ call, at: 0, tokens: 1 }] });
/** What was noted goes, in each way there is, and is needed again. The last instant is older than what is kept. */
const SURE: readonly (readonly Step[])[] = [
  [start(0), { ...where, does: "delete project" }, start(0)],
  [start(5), { ...where, does: "retention" }, start(5)],
  [{ ...where, does: "backup" }, whole(0), { ...where, does: "restore" }, whole(0), whole(3)],
];

let lives = 0;
async function live(steps: readonly Step[]): Promise<void> {
  lives++;
  const names = Array.from({ length: PROJECTS }, (_, at) => `acme/places-${lives}-${at}`);
  const run: Run = { world, names, models: names.map(() => new Model()), backup: undefined };
  for (const [at, one] of steps.entries()) {
    await takeStep(run, one);
    for (const [index, project_id] of names.entries()) {
      const told = `seed ${seed}, step ${at} of ${JSON.stringify(steps.slice(0, at + 1))}`;
      const model = run.models[index]!;
      const app = world.app(seeded.next() < 0.5 ? 0 : 1);
      if (index === one.project || seeded.next() < 0.3)
        await checkReads({ app, project_id, model, told, random: () => seeded.next() });
    }
  }
}

/** What a writer remembers of the store is right after whatever else has changed the store. */
describe("what is noted of where calls are", () => {
  it(
    `finds every call after each step of ${RUNS} sequences, seed ${seed}`,
    { timeout: 36_000_000 },
    async () => {
      const sequences = fc.array(step, { minLength: STEPS, maxLength: STEPS, size: "max" });
      await fc.assert(fc.asyncProperty(sequences, live), {
        seed,
        numRuns: SURE.length + RUNS,
        examples: SURE.map((steps): [Step[]] => [[...steps]]),
        endOnFailure: !SHRINK,
      });
    },
  );
});
