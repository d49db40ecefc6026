import { sql } from "../query/sql.ts";
import { AppError } from "../shared/errors.ts";
import type { FairSemaphore } from "../fairness/fair-semaphore.ts";
import { reserveOf } from "../store/disk-space.ts";
import type { Engine, StoreHealth } from "../store/engine.ts";
import type { BatchEvent } from "../store/group-commit.ts";
import { StorageError } from "../store/storage-error.ts";

/** Free and total bytes of the disks that store calls, per shard. */
const DISKS = sql`SELECT sum(toFloat64(free_space)) AS free, sum(toFloat64(total_space)) AS total FROM system.disks
  WHERE name IN (SELECT arrayJoin(disks) FROM system.storage_policies WHERE policy_name IN
    (SELECT storage_policy FROM system.tables WHERE database = currentDatabase() AND name = 'calls')) HAVING total > 0`;

const FULL =
  "The store's disk is almost full: it takes deletions, nothing else. Delete something, or have it enlarged.";

export type DiskReserve = ReturnType<typeof createDiskReserve>;

/**
 * Reserved disk space. Ingest is rejected before it uses any. Deletions of calls and the gateway may use half; the rest is
 * for operators: revoking keys, deleting projects, and the audit log. `pending`: bytes that wait to be written.
 */
export function createDiskReserve(
  engine: Pick<Engine, "rows" | "health">,
  minFreeBytes: number | undefined,
  pending: FairSemaphore,
) {
  let known = { reserve: 0, freeBytes: Infinity };
  let writtenBytes = 0;
  /** Bytes that clients may still write: as last polled, less pending and later writes. */
  const freeBytes = (): number => known.freeBytes - writtenBytes - pending.counts().held;
  return {
    freeBytes,
    /** Errors: `StorageError`. */
    read: async (): Promise<void> => {
      const before = writtenBytes;
      const options = { name: "disk_space", tables: "per_shard" } as const;
      const disks = await engine.rows<{ free: number; total: number }>(DISKS, options);
      const all = disks.map(({ free, total }) => {
        const reserve = reserveOf(total, minFreeBytes);
        return { reserve, freeBytes: free - reserve };
      });
      // `calls` is missing while a migration replaces it: keep the last known space
      if (all.length === 0) return;
      known = all.reduce((fullest, one) => (one.freeBytes < fullest.freeBytes ? one : fullest));
      writtenBytes -= before;
    },
    /** Wraps a callback so that it also counts the bytes of each batch. */
    counting: (onBatch: (batch: BatchEvent) => void) => (batch: BatchEvent) => {
      writtenBytes += batch.bytes;
      onBatch(batch);
    },
    /** Checks ingest. Errors: storage_full. */
    check: (): void => {
      if (freeBytes() < 0) throw new AppError("storage_full", FULL);
    },
    /** Checks deletions and the gateway, which may use half of the reserve. Errors: `StorageError`. */
    checkHalf: (): void => {
      if (freeBytes() < -known.reserve / 2)
        throw new StorageError("no_space", "disk_reserve", undefined, FULL);
    },
    health: async (): Promise<StoreHealth> => {
      const { reads, writes = freeBytes() < 0 ? "its disk is almost full" : undefined } =
        await engine.health();
      return { reads, writes };
    },
  };
}
