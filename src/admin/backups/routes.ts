import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { adminAccess } from "../../http/auth/guard.ts";
import { AppError } from "../../shared/errors.ts";
import { makeBackup, type BackupDeps } from "./make-backup.ts";
import { backupRes } from "./schema.ts";

const config = { access: adminAccess, audit: "backup.create" } as const;

export interface BackupOptions extends Omit<BackupDeps, "dir"> {
  /** Undefined for a server, which has its own backups. */
  readonly dir: string | undefined;
}

/** Route that copies the running embedded store, for keys of all projects. */
export async function backupRoutes(
  root: FastifyInstance,
  { dir, engine, clock }: BackupOptions,
): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  let running = false;
  app.post("/backups", { config, schema: createBackupSchema }, async ({ grant, audit }, reply) => {
    if (!grant.covers("*")) throw new AppError("forbidden", "This needs a key for all projects.");
    if (dir === undefined) {
      throw new AppError(
        "bad_request",
        "The store is a server: use its own BACKUP. See docs/operate/backup.md.",
      );
    }
    if (running) throw new AppError("already_running", "A backup is already running. Retry when it is done.");
    running = true;
    try {
      audit.begin(["*"], {});
      const began = performance.now();
      const { name, path, startedAtMs, bytes } = await makeBackup({ engine, dir, clock });
      const seconds = Math.round(performance.now() - began) / 1000;
      audit.add({ name, bytes });
      return await reply
        .code(201)
        .send({ name, path, started_at: new Date(startedAtMs).toISOString(), seconds, bytes });
    } finally {
      running = false;
    }
  });
}

const createBackupSchema = {
  operationId: "createBackup",
  summary: "Back up the embedded store while it runs",
  description:
    "Writes a copy into a new directory under `BACKUP_DIR`. For a ClickHouse server, use its own backups. Only one backup runs at a time.",
  success: "The path of the copy",
  example: {
    response: {
      name: "sumtree-20260115T093000Z",
      path: "/var/lib/sumtree/backups/sumtree-20260115T093000Z",
      started_at: "2026-01-15T09:30:00.000Z",
      seconds: 0.5,
      bytes: 300_000_000,
    },
  },
  response: { 201: backupRes },
};
