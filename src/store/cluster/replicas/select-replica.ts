import type { Sql } from "../../../query/sql.ts";
import { NOT_CURRENT, StorageError } from "../../storage-error.ts";
import { hasAllAcknowledged, quorumOf, type ClusterView } from "./replica-health.ts";
import type { ReplicaWatch } from "./replica-watch.ts";
import type { Replica } from "./replica.ts";
import { containsBlocks } from "./stored-blocks.ts";

/** Selection from a non-empty list of replicas, best first. */
export type SelectReplica = (candidates: readonly Replica[]) => Promise<Replica> | Replica;

/** Time to compare replicas repeatedly: a merge on one of them can make them look different. */
const COMPARE_MS = 800;
const PAUSE_MS = 50;

/**
 * Selects the first replica with everything the others acknowledged. If the best one lags, checks the others concurrently and
 * compares their blocks: a hung replica may hold rows no other replica can fetch. Throws `StorageError` with `NOT_CURRENT`.
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
      // without Keeper no replica fetches rows, and too few replicas can never decide
      const mayChange =
        areEnough(candidates, view) && candidates.some((replica) => replica.state().keeper !== undefined);
      if (!mayChange || performance.now() > giveUpMs)
        throw new StorageError(
          "unavailable",
          statement,
          NOT_CURRENT,
          "no replica has the blocks of all others",
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
 * Finds a replica with all acknowledged rows without Keeper: it has the blocks of all responding replicas, and enough of
 * them respond that each acknowledged row is on at least one.
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

/** True if every acknowledged row must be on one of these replicas. */
function areEnough(replicas: readonly Replica[], view: ClusterView): boolean {
  return replicas.every((replica) => {
    const { needed, total } = quorumOf(replica.state(), view);
    return replicas.length > total - needed;
  });
}

/** Lists the replicated tables in a statement, known from all servers: one that just started may not list its own yet. */
function tablesIn(query: Sql, { all }: ClusterView): readonly string[] {
  const text = query.chunks.filter((chunk) => typeof chunk === "string").join(" ");
  const words = new Set(text.match(/\w+/g));
  const replicated = new Set(all.flatMap(({ replicatedTables }) => replicatedTables));
  return [...replicated].filter((table) => words.has(table));
}
