import type { Sql } from "../../../query/sql.ts";
import { NOT_CURRENT, StorageError } from "../../storage-error.ts";
import { hasAllAcknowledged, quorumOf, type ClusterView } from "./replica-health.ts";
import type { ReplicaWatch } from "./replica-watch.ts";
import type { Replica } from "./replica.ts";
import { containsBlocks } from "./stored-blocks.ts";

/** Of at least one replica, the best one first. */
export type SelectReplica = (candidates: readonly Replica[]) => Promise<Replica> | Replica;

/** How long replicas are compared repeatedly, because a merge on one of them can make them look different. */
const COMPARE_MS = 800;
const PAUSE_MS = 50;

/**
 * Chooses the first that has everything acknowledged by the others. If the best is late, it checks the others concurrently,
 * and compares what they have: one that hangs may hold rows that nobody else can fetch, so that nobody catches up with it.
 * Errors: `NOT_CURRENT`.
 */
export function createReplicaSelector(
  watch: ReplicaWatch,
  query: Sql,
  statement: string,
  tries: number,
): SelectReplica {
  const caughtUp = async (replica: Replica): Promise<Replica> => {
    const view = watch.view();
    if (replica.isCurrent() && hasAllAcknowledged(replica.state(), view)) return replica;
    await replica.catchUp(tablesIn(query, view), statement, tries);
    return replica;
  };
  const compared = async (candidates: readonly Replica[]): Promise<Replica> => {
    const giveUpMs = performance.now() + COMPARE_MS;
    for (;;) {
      const view = watch.view();
      const complete = await findCompleteReplica(candidates, view, tablesIn(query, view));
      if (complete !== undefined) return complete;
      // without a keeper no replica fetches anything, and too few of them cannot tell at any time
      const mayChange =
        areEnough(candidates, view) && candidates.some((replica) => replica.state().keeper !== undefined);
      if (!mayChange || performance.now() > giveUpMs)
        throw new StorageError(
          "unavailable",
          statement,
          NOT_CURRENT,
          "no replica has all that the others have",
        );
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  return (candidates) => {
    const [best, ...others] = candidates;
    const first = caughtUp(best!);
    const anyOther = () => Promise.any([...others.map(caughtUp), compared(candidates)]);
    if (tries > 0) return Promise.any([first, anyOther()]).catch(() => first);
    return first.catch((error: unknown) => anyOther().catch(() => Promise.reject(error as Error)));
  };
}

/**
 * A replica with all that was acknowledged before, found without the keeper: it has the rows of all replicas that answer, and
 * so many of them answer that each acknowledged row is on at least one.
 */
async function findCompleteReplica(
  candidates: readonly Replica[],
  view: ClusterView,
  tables: readonly string[],
): Promise<Replica | undefined> {
  const answers = await Promise.allSettled(
    candidates.map(async (replica) => ({ replica, blocks: await replica.storedBlocks(tables) })),
  );
  const seen = answers.filter((answer) => answer.status === "fulfilled").map(({ value }) => value);
  const ofSeen = seen.map(({ replica }) => replica);
  if (!areEnough(ofSeen, view)) return undefined;
  const all = seen.flatMap(({ blocks }) => blocks);
  return seen.find(({ blocks }) => containsBlocks(blocks, all))?.replica;
}

/** Whether one of them must have any row that was acknowledged. */
function areEnough(replicas: readonly Replica[], view: ClusterView): boolean {
  return replicas.every((replica) => {
    const { needed, total } = quorumOf(replica.state(), view);
    return replicas.length > total - needed;
  });
}

/** The replicated tables that a statement names. A server that was just started may not tell of all of its own. */
function tablesIn(query: Sql, { all }: ClusterView): readonly string[] {
  const text = query.chunks.filter((chunk) => typeof chunk === "string").join(" ");
  const words = new Set(text.match(/\w+/g));
  const replicated = new Set(all.flatMap(({ replicatedTables }) => replicatedTables));
  return [...replicated].filter((table) => words.has(table));
}
