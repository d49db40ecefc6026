import type { Deletion } from "./deletion-store.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import { eraseDeletedCalls } from "./erase-deleted-calls.ts";

/** Advances all deletions: starts requested erasures of calls, and marks finished ones as done. */
export async function advanceDeletions(deps: DeletionDeps): Promise<void> {
  await eraseDeletedCalls(deps);
  const running = await deps.deletions.at("running");
  const sameMutations = Map.groupBy(running, ({ mutations }) => JSON.stringify(mutations));
  for (const deletions of sameMutations.values()) await finishIfGone(deps, deletions);
}

/** Marks deletions that share mutations as done if no data part has the rows any more. Returns their current state. */
export async function finishIfGone(
  { deletions, mutations, clock }: DeletionDeps,
  running: readonly Deletion[],
): Promise<readonly Deletion[]> {
  if (!(await mutations.areComplete(running[0]!.mutations))) return running;
  const done = running.map((deletion): Deletion => ({ ...deletion, step: "done", doneAtMs: clock.now() }));
  await deletions.save(done);
  return done;
}
