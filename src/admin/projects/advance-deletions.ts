import type { Deletion } from "./deletion-store.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import { eraseDeletedCalls } from "./erase-deleted-calls.ts";

type FinishDeps = Pick<DeletionDeps, "deletions" | "mutations" | "clock">;

/** The deletion's current state: done, and stored as done, when no part holds the rows any more. */
export async function finishIfGone(deps: FinishDeps, deletion: Deletion): Promise<Deletion> {
  const [done] = deletion.step === "running" ? await finishAllIfGone(deps, [deletion]) : [];
  return done ?? deletion;
}

/** Takes all deletions one step further. */
export async function advanceDeletions(deps: DeletionDeps): Promise<void> {
  await eraseDeletedCalls(deps);
  const running = await deps.deletions.at("running");
  const sameMutations = Map.groupBy(running, ({ mutations }) => JSON.stringify(mutations));
  for (const deletions of sameMutations.values()) await finishAllIfGone(deps, deletions);
}

/** For deletions that share their mutations. Returns those that are done. */
async function finishAllIfGone(deps: FinishDeps, running: readonly Deletion[]): Promise<readonly Deletion[]> {
  if (!(await deps.mutations.areComplete(running[0]!.mutations))) return [];
  const doneAtMs = deps.clock.now();
  const done = running.map((deletion): Deletion => ({ ...deletion, step: "done", doneAtMs }));
  await deps.deletions.save(done);
  return done;
}
