import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Project } from "../../src/shared/project.ts";
import type { FeedbackColumns } from "../../src/feedback/feedback-row.ts";
import { createFeedbackWriter } from "../../src/feedback/feedback-writer.ts";
import { param, sql } from "../../src/query/sql.ts";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

/** Random histories per run. */
const RUNS = runs(4, 100);

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
});
afterAll(() => test.close());

const columns = (payload: string): FeedbackColumns => ({
  feedback_type: "custom",
  weave_ref: "weave:///a/b/call/1",
  creator: null,
  svc_user_id: "test",
  annotation_ref: null,
  runnable_ref: null,
  call_ref: null,
  trigger_ref: null,
  queue_id: null,
  payload,
  scorer: "",
  numbers: {},
  booleans: {},
  texts: [],
});

const send = fc.record({
  replica: fc.integer({ min: 0, max: 2 }),
  id: fc.constantFrom("a", "b", "c"),
  kind: fc.constantFrom("kept", "kept", "set"),
  minute: fc.integer({ min: 0, max: 9 }),
  /** Sent concurrently with the previous change. */
  together: fc.boolean(),
});

describe("feedback sent to several replicas at once", () => {
  it("is one row per id; later writes replace acknowledged ones", async () => {
    let runs = 0;
    // the replicas' clocks disagree
    const replicas = [0, 40_000, -40_000].map((skewMs) =>
      createFeedbackWriter(
        test.engine,
        { now: () => Date.now() + skewMs },
        { lingerMs: 0, pending: new FairSemaphore({ capacity: 2 ** 20 }) },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(send, { minLength: 2, maxLength: 12 }), async (sends) => {
        const project = `acme/replicas-${runs++}` as Project;
        let wave: Promise<unknown>[] = [];
        let last: string[] = [];
        for (const [at, { replica, id, kind, minute, together }] of sends.entries()) {
          if (!together) {
            await Promise.all(wave);
            wave = [];
            last = [];
          }
          const time = { kind, us: Date.UTC(2026, 0, 1, 0, minute) * 1000 } as const;
          wave.push(
            replicas[replica]!.write([{ project, id, columns: columns(`{"at":${at}}`), time, bytes: 512 }]),
          );
          last.push(`${id} ${at}`);
        }
        await Promise.all(wave);
        const rows = await test.engine.rows<{ id: string; at: number }>(
          sql`SELECT id, JSONExtractInt(payload, 'at') AS at FROM feedback FINAL
              WHERE project_id = ${param("String", project)} AND deleted = 0 ORDER BY id`,
          { name: "test" },
        );
        expect(rows.map((row) => row.id)).toEqual([...new Set(sends.map((one) => one.id))].sort());
        // an id that was sent in the last wave holds one of that wave's contents
        const inLastWave = rows.filter((row) => last.some((one) => one.startsWith(`${row.id} `)));
        for (const row of inLastWave) expect(last).toContain(`${row.id} ${row.at}`);
      }),
      { numRuns: RUNS, seed: chosenSeed() },
    );
  });
});
