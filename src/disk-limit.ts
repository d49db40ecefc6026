import type { FastifyInstance } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { createDiskReserve, type DiskReserve } from "./admin/disk-reserve.ts";
import type { CallWriter } from "./calls/write/call-writer.ts";
import type { ContentWriter } from "./content/content-writer.ts";
import type { FeedbackWriter } from "./feedback/feedback-writer.ts";
import type { Config } from "./config.ts";
import { registerPeriodic } from "./periodic.ts";
import type { FairSemaphore } from "./fairness/fair-semaphore.ts";
import type { Engine } from "./store/engine.ts";

export interface Writers {
  readonly calls: CallWriter;
  readonly feedback: FeedbackWriter;
  readonly content: ContentWriter;
}

const PROBE_EVERY_MS = 1000;

/**
 * Wraps writers to reject all writes once free disk space falls to MIN_FREE_DISK_BYTES. Deletions may use half of that reserve.
 */
export function limitWrites({ calls, feedback, content }: Writers, reserve: DiskReserve): Writers {
  return {
    calls: {
      ...calls,
      async write(project, events, since) {
        if (events.some(({ kind }) => kind !== "delete")) reserve.check();
        else reserve.checkHalf();
        return calls.write(project, events, since);
      },
    },
    feedback: {
      ...feedback,
      async write(changes) {
        for (const { columns } of changes)
          if (columns === undefined) reserve.checkHalf();
          else reserve.check();
        return feedback.write(changes);
      },
    },
    content: {
      ...content,
      async write(rows) {
        reserve.check();
        await content.write(rows);
      },
    },
  };
}

/** Creates the disk reserve (`MIN_FREE_DISK_BYTES`). `pending`: bytes waiting to be written. */
export function keepReserve(
  app: FastifyInstance,
  { MIN_FREE_DISK_BYTES: minFreeBytes }: Config,
  { engine, registry, pending }: { engine: Engine; registry: Registry; pending: FairSemaphore },
): DiskReserve {
  const reserve = createDiskReserve(engine, minFreeBytes, pending);
  if (minFreeBytes === 0) return reserve;
  registerPeriodic(app, { name: "disk_space", everyMs: PROBE_EVERY_MS, atStart: true, run: reserve.read });
  const gauge: Gauge = new Gauge({
    name: "sumtree_store_free_bytes",
    help: "Bytes clients may store before writes are rejected",
    registers: [registry],
    collect: () => gauge.set(reserve.freeBytes()),
  });
  return reserve;
}
