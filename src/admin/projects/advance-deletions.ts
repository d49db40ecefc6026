import type { Deletion } from "./deletion-store.ts";
import type { DeletionDeps } from "./delete-projects.ts";
import { eraseDeletedCalls } from "./erase-deleted-calls.ts";

/** Advances all deletions: starts requested erasures of calls, and marks finished ones as done. */
export async function advanceDeletions(deps: DeletionDeps): Promise<void> {
  await eraseDeletedCalls(deps);
  await finishDone(deps, await deps.deletions.at("running"));
}

/** Marks running deletions as done whose mutations are done. Returns their current state. */
export async function finishDone(
  { deletions, mutations, clock }: DeletionDeps,
  started: readonly Deletion[],
): Promise<readonly Deletion[]> {
  if (started.length === 0) return [];
  const running = await mutations.running();
  const done = started
    .filter(({ tag }) => !running.has(tag))
    .map((deletion): Deletion => ({ ...deletion, step: "done", doneAtMs: clock.now() }));
  if (done.length > 0) await deletions.save(done);
  return done;
}
