import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { advanceDeletions } from "../../src/admin/projects/advance-deletions.ts";
import { createDeletionStore, newDeletion } from "../../src/admin/projects/deletion-store.ts";
import { eraseDeletedCalls } from "../../src/admin/projects/erase-deleted-calls.ts";
import { createMutations } from "../../src/admin/projects/mutations.ts";
import { param, sql, trusted } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { externalCluster } from "../helpers/external-store.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const deps = () => ({
  engine: test.engine,
  deletions: createDeletionStore(test.engine),
  mutations: createMutations(test.engine, externalCluster),
  clock: systemClock,
  runExclusive: <Result>(work: () => Promise<Result>) => work(),
});

/** Limit of ids in a request. */
const MAX_IDS = 10_000;
let projectCount = 0;
const newProject = (): string => `acme/p${projectCount++}`;
const started_at = "2026-01-01T00:00:00Z";

/** Makes and deletes calls; returns the receipt. */
async function deleteSome(project_id: string, count: number): Promise<string> {
  const ids = Array.from({ length: count }, (_, index) => `c${index}`);
  const start = (id: string) => ({
    mode: "start",
    req: { start: { project_id, id, trace_id: `t${id.length}`, op_name: "secret", started_at } },
  });
  expect((await test.post("/call/upsert_batch", { batch: ids.map(start) })).status).toBe(200);
  let receipt = "";
  for (let at = 0; at < count; at += MAX_IDS) {
    const call_ids = ids.slice(at, at + MAX_IDS);
    const response = (await test.post("/calls/delete", { project_id, call_ids })).json();
    expect(response.num_deleted).toBe(call_ids.length);
    receipt = response.deletion_id;
  }
  return receipt;
}

async function countSecrets(project: string): Promise<number> {
  const [row] = await test.engine.rows<{ n: number }>(
    sql`SELECT count() AS n FROM calls WHERE project_id = ${param("String", project)} AND op_name = 'secret'`,
    { name: "test" },
  );
  return row!.n;
}

const isRunning = async (id: string): Promise<boolean> => (await deps().deletions.find(id))?.step !== "asked";
const noneAtWork = (): Promise<void> =>
  until(async () => !(await deps().mutations.areRunning("deleted calls")));

it("a deletion of many calls does not delay other projects'", async () => {
  // the mutation finds calls that are merged with their deletions by itself
  const limits = ["max_bytes_to_merge_at_min_space_in_pool", "max_bytes_to_merge_at_max_space_in_pool"];
  const options = { name: "test", tables: "per_shard" } as const;
  const unmerged = limits.map((name) => `${name} = 1`).join();
  await test.engine.command(sql`ALTER TABLE calls MODIFY SETTING ${trusted(unmerged)}`, options);
  const [large, small] = [newProject(), newProject()];
  const receipts = [await deleteSome(large, 25_000), await deleteSome(small, 3)];
  await advanceDeletions(deps());
  expect(await isRunning(receipts[1]!)).toBe(true);
  await test.engine.command(sql`ALTER TABLE calls RESET SETTING ${trusted(limits.join())}`, options);
  await until(async () => (await countSecrets(small)) === 0);
  await noneAtWork();
  await advanceDeletions(deps());
  expect(await isRunning(receipts[0]!)).toBe(true);
  await until(async () => (await countSecrets(large)) === 0);
});

it("many receipts of one project advance together, and do not delay others", async () => {
  const { deletions, clock } = deps();
  const [many, one] = [newProject() as Project, newProject() as Project];
  await deletions.save(Array.from({ length: 10_500 }, () => newDeletion(many, "calls", clock)));
  const other = newDeletion(one, "calls", { now: () => clock.now() + 1000 });
  await deletions.save([other]);
  await noneAtWork();
  await eraseDeletedCalls(deps());
  expect(await isRunning(other.id)).toBe(true);
  expect((await deletions.at("asked")).length).toBe(501);
  await eraseDeletedCalls(deps());
  expect(await deletions.at("asked")).toEqual([]);
});

it("a project within its share is erased by the next turn, and no turn is wasted", async () => {
  const counts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(counts, fc.integer({ min: 5, max: 60 }), async (deleted, maxKeys) => {
      await noneAtWork();
      await eraseDeletedCalls(deps());
      await noneAtWork();
      const open = new Map<string, { id: string; left: number }>();
      for (const left of deleted) {
        const project = newProject();
        open.set(project, { id: await deleteSome(project, left), left });
      }
      for (let turn = 0; open.size > 0; turn++) {
        const total = [...open.values()].reduce((sum, { left }) => sum + left, 0);
        const share = Math.max(1, Math.floor(maxKeys / open.size));
        await eraseDeletedCalls(deps(), maxKeys);
        await noneAtWork();
        let emptied = 0;
        for (const [project, one] of open) {
          const left = await countSecrets(project);
          emptied += one.left - left;
          expect(one.left - left).toBeGreaterThanOrEqual(Math.min(one.left, share));
          const running = await isRunning(one.id);
          if (one.left <= share) expect(running).toBe(true);
          if (running) expect(left).toBe(0);
          open.set(project, { ...one, left });
          if (running) open.delete(project);
        }
        expect(emptied).toBeGreaterThan(Math.min(total, maxKeys) - deleted.length);
      }
    }),
    { numRuns: runs(1, 15), seed: chosenSeed(), endOnFailure: true },
  );
});
