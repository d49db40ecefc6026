import type { Engine } from "../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../store/group-commit.ts";
import type { Clock } from "../shared/clock.ts";
import type { FeedbackChange } from "./feedback-row.ts";
import { findRows, insertRows } from "./row-store.ts";
import { planRepair, planWrite } from "./write-plan.ts";

/** The only way to store feedback. */
export interface FeedbackWriter {
  /**
   * Resolves when the changes are durable, with the time of each feedback in µs. Changes of one call are stored in one
   * batch. Errors: `StorageError`; the caller may retry.
   */
  write(changes: readonly FeedbackChange[]): Promise<readonly number[]>;
  /** Resolves when all accepted changes are durable. */
  drain(): Promise<void>;
}

interface Item {
  readonly change: FeedbackChange;
  storedUs: number;
}

const MAX_BATCH_BYTES = 32 * 1024 * 1024;

export function createFeedbackWriter(
  engine: Engine,
  clock: Clock,
  settings: GroupCommitSettings,
): FeedbackWriter {
  let lastVersion = 0;
  const store = async (items: readonly Item[]): Promise<void> => {
    const changes = items.map((item) => item.change);
    const maybeStored = changes.filter((change) => change.time.kind !== "new");
    lastVersion = Math.max(lastVersion + 1, clock.now() * 1000);
    const plan = planWrite(changes, await findRows(engine, maybeStored), lastVersion);
    await insertRows(engine, plan.rows);
    await insertRows(engine, planRepair(await findRows(engine, maybeStored)));
    items.forEach((item, index) => {
      item.storedUs = plan.createdAtUs[index]!;
    });
  };
  const commit = createGroupCommit<Item>({
    name: "feedback_write",
    flush: store,
    sizeOf: ({ change }) => change.bytes,
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
  });
  return {
    async write(changes) {
      const items = changes.map((change): Item => ({ change, storedUs: change.time.us }));
      await commit.write(items);
      return items.map((item) => item.storedUs);
    },
    drain: () => commit.drain(),
  };
}
