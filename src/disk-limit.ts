import type { FastifyInstance } from "fastify";
import { Gauge, type Registry } from "prom-client";
import type { CallWriter } from "./calls/write/call-writer.ts";
import type { Config } from "./config.ts";
import type { PointStore } from "./agent-metrics/point-store.ts";
import type { ContentWriter } from "./content/content-writer.ts";
import type { FeedbackWriter } from "./feedback/feedback-writer.ts";
import type { CompletionStore } from "./gateway/recording/recorder.ts";
import { registerPeriodic } from "./periodic.ts";
import { sql } from "./query/sql.ts";
import { AppError } from "./shared/errors.ts";
import { reserveOf } from "./store/disk-space.ts";
import type { Engine } from "./store/engine.ts";
import { StorageError } from "./store/storage-error.ts";

interface Writers {
  readonly calls: CallWriter;
  readonly feedback: FeedbackWriter;
  readonly content: ContentWriter;
  readonly points: PointStore;
}

const READ_EVERY_MS = 1000;
/** Free and total bytes of the disks that store calls, per shard; no row while a migration replaces the table. */
const DISKS = sql`SELECT sum(toFloat64(free_space)) AS free, sum(toFloat64(total_space)) AS total FROM system.disks
  WHERE name IN (SELECT arrayJoin(disks) FROM system.storage_policies WHERE policy_name IN
    (SELECT storage_policy FROM system.tables WHERE database = currentDatabase() AND name = 'calls')) HAVING total > 0`;
const FULL =
  "The store's disk is almost full: it takes deletions, nothing else. Delete something, or have it enlarged.";

/** Stops what adds data while less than MIN_FREE_DISK_BYTES are free: ingest is rejected, completions stay in the journal. */
export function limitDisk(
  app: FastifyInstance,
  { MIN_FREE_DISK_BYTES: minFreeBytes }: Pick<Config, "MIN_FREE_DISK_BYTES">,
  { engine, registry }: { engine: Pick<Engine, "rows" | "health">; registry: Registry },
) {
  let freeBytes = Infinity;
  const run = async (): Promise<void> => {
    const disks = await engine.rows<{ free: number; total: number }>(DISKS, {
      name: "disk_space",
      tables: "per_shard",
    });
    if (disks.length > 0)
      freeBytes = Math.min(...disks.map(({ free, total }) => free - reserveOf(total, minFreeBytes)));
  };
  const check = (adds: boolean): void => {
    if (adds && freeBytes < 0) throw new AppError("storage_full", FULL);
  };
  if (minFreeBytes !== 0) {
    registerPeriodic(app, { name: "disk_space", everyMs: READ_EVERY_MS, atStart: true, run });
    const gauge: Gauge = new Gauge({
      name: "sumtree_store_free_bytes",
      help: "Bytes clients may store before writes are rejected",
      registers: [registry],
      collect: () => gauge.set(freeBytes),
    });
  }
  return {
    /** Deletions are always written. */
    limitWrites: ({ calls, feedback, content, points }: Writers): Writers => ({
      calls: {
        ...calls,
        async write(project, events, since) {
          check(events.some(({ columns }) => columns["deleted_at"] === undefined));
          return calls.write(project, events, since);
        },
      },
      feedback: {
        ...feedback,
        async write(changes) {
          check(changes.some(({ columns }) => columns !== undefined));
          return feedback.write(changes);
        },
      },
      content: {
        ...content,
        async write(rows) {
          check(true);
          await content.write(rows);
        },
      },
      points: {
        ...points,
        async write(rows) {
          check(true);
          await points.write(rows);
        },
      },
    }),
    limitRecording: <Store extends CompletionStore>(store: Store): Store => ({
      ...store,
      async write(project, completion) {
        if (freeBytes < 0) throw new StorageError("no_space", "disk_space", undefined, FULL);
        await store.write(project, completion);
      },
    }),
    health: async () => {
      const { reads, writes } = await engine.health();
      return { reads, writes: writes ?? (freeBytes < 0 ? "its disk is almost full" : undefined) };
    },
  };
}
