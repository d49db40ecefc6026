import type { FastifyInstance } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { StoredLimit } from "./admin/stored/stored-limit.ts";
import type { Config } from "./config.ts";
import { registerPeriodic } from "./periodic.ts";
import type { Writers } from "./second-thread/second-thread.ts";
import type { Engine } from "./store/engine.ts";

const READ_EVERY_MS = 10_000;

interface Deps {
  readonly engine: Engine;
  readonly registry: Registry;
  readonly writers: Writers;
}

/**
 * The writers of what clients send: they refuse projects that store as much as they may (`MAX_STORED_BYTES`). What deletes is
 * never refused.
 */
export function limitStored(
  app: FastifyInstance,
  { MAX_STORED_BYTES: capacity }: Config,
  { engine, registry, writers }: Deps,
): Writers {
  if (capacity === undefined) return writers;
  const limit = new StoredLimit(engine, capacity);
  registerPeriodic(app, {
    name: "stored_bytes",
    everyMs: READ_EVERY_MS,
    atStart: true,
    run: () => limit.read(),
  });
  registry.registerMetric(
    new Gauge({
      name: "sumtree_stored_bytes",
      help: "Bytes that all projects store, before compression",
      registers: [],
      collect() {
        this.set(limit.bytes);
      },
    }),
  );
  const { calls, feedback, content } = writers;
  return {
    calls: {
      ...calls,
      async write(project, parts, since) {
        if (parts.some(({ kind }) => kind !== "delete")) limit.check(project);
        return calls.write(project, parts, since);
      },
    },
    feedback: {
      ...feedback,
      async write(changes) {
        for (const { project, columns } of changes) if (columns !== undefined) limit.check(project);
        return feedback.write(changes);
      },
    },
    content: {
      ...content,
      async write(rows) {
        for (const { columns } of rows) limit.check(String(columns["project_id"]));
        await content.write(rows);
      },
    },
  };
}
