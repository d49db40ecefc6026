import type { FastifyInstance } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { createDiskReserve, type DiskReserve } from "./admin/stored/disk-reserve.ts";
import { StoredLimit } from "./admin/stored/stored-limit.ts";
import type { Config } from "./config.ts";
import { registerPeriodic } from "./periodic.ts";
import type { FairSemaphore } from "./fairness/fair-semaphore.ts";
import type { Writers } from "./ingest-worker/ingest-worker.ts";
import type { Engine } from "./store/engine.ts";

const READ_EVERY_MS = 10_000;
const PROBE_EVERY_MS = 1000;

interface Deps {
  readonly engine: Engine;
  readonly registry: Registry;
  readonly writers: Writers;
  readonly reserve: DiskReserve;
}

/**
 * Wraps writers to reject projects at MAX_STORED_BYTES, and all writes once free disk space falls to MIN_FREE_DISK_BYTES.
 * Deletions may use half of that reserve.
 */
export function limitStored(
  app: FastifyInstance,
  { MAX_STORED_BYTES: capacity }: Config,
  { engine, registry, writers: { calls, feedback, content }, reserve }: Deps,
): Writers {
  const limit = new StoredLimit(engine, capacity ?? Infinity);
  if (capacity !== undefined) {
    const run = (): Promise<void> => limit.read();
    registerPeriodic(app, { name: "stored_bytes", everyMs: READ_EVERY_MS, atStart: true, run });
    gauge(registry, "sumtree_stored_bytes", "Uncompressed bytes stored by all projects", () => limit.bytes);
  }
  const check = (project: string): void => {
    reserve.check();
    limit.check(project);
  };
  return {
    calls: {
      ...calls,
      async write(project, events, since) {
        if (events.some(({ kind }) => kind !== "delete")) check(project);
        else reserve.checkHalf();
        return calls.write(project, events, since);
      },
    },
    feedback: {
      ...feedback,
      async write(changes) {
        for (const { project, columns } of changes)
          if (columns === undefined) reserve.checkHalf();
          else check(project);
        return feedback.write(changes);
      },
    },
    content: {
      ...content,
      async write(rows) {
        for (const { columns } of rows) check(String(columns["project_id"]));
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
  gauge(
    registry,
    "sumtree_store_free_bytes",
    "Bytes clients may store before writes are rejected",
    reserve.freeBytes,
  );
  return reserve;
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  const one: Gauge = new Gauge({ name, help, registers: [], collect: () => one.set(read()) });
  registry.registerMetric(one);
}
