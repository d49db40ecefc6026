import type { Deletion } from "./deletion-store.ts";
import type { DeletionDeps } from "./delete-project.ts";
import { eraseDeletedCalls } from "./erase-deleted-calls.ts";

type FinishDeps = Pick<DeletionDeps, "deletions" | "mutations" | "clock">;

const MAX_PER_RUN = 200;

/** The deletion's current state: done, and stored as done, when no part holds the rows any more. */
export async function finishIfGone(deps: FinishDeps, deletion: Deletion): Promise<Deletion> {
  if (deletion.step !== "running" || !(await deps.mutations.areComplete(deletion.mutations))) return deletion;
  const done: Deletion = { ...deletion, step: "done", doneAtMs: deps.clock.now() };
  await deps.deletions.save([done]);
  return done;
}

/** Takes all deletions one step further. */
export async function advanceDeletions(deps: DeletionDeps): Promise<void> {
  await eraseDeletedCalls(deps);
  for (const deletion of await deps.deletions.at("running", MAX_PER_RUN)) await finishIfGone(deps, deletion);
}
