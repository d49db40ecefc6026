import { FairQueue } from "../../shares/fair-queue.ts";
import { actingFor, SERVICE } from "../../shares/holder.ts";
import type { Project } from "../../shared/project.ts";
import { deleteProjects, type DeletionDeps } from "./delete-projects.ts";
import type { Deletion } from "./deletion-store.ts";

/** The largest batch. Each batch is one mutation per table, and blocks inserts until they have started. */
const MAX_AT_ONCE = 100;

interface Asked {
  readonly project: Project;
  readonly done: (deletion: Deletion) => void;
  readonly failed: (error: unknown) => void;
}

/** Deletes projects in batches: requests that arrive during a batch join the next one, fairly by entity. */
export function createProjectDeleter(deps: DeletionDeps): (project: Project) => Promise<Deletion> {
  const queue = new FairQueue<Asked>();
  let isRunning = false;

  const run = async (): Promise<void> => {
    while (queue.size > 0) {
      const batch: Asked[] = [];
      while (queue.size > 0 && batch.length < MAX_AT_ONCE) batch.push(queue.take(() => true)!.value);
      try {
        const deletions = await deleteProjects(
          deps,
          batch.map(({ project }) => project),
        );
        for (const [at, { done }] of batch.entries()) done(deletions[at]!);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    isRunning = false;
  };

  return (project) => {
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<Deletion>();
    queue.push({ holder: { project, key: "" }, cost: 1, value: { project, done, failed } });
    if (!isRunning) {
      isRunning = true;
      void actingFor(SERVICE, run);
    }
    return promise;
  };
}
