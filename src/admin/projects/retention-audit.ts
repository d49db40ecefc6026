import { randomUUID } from "node:crypto";
import type { AuditEntry, AuditLog } from "../../http/audit/audit-log.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";

/**
 * Deletes, with an entry of its own for each project, stored before and again with the outcome. Errors: those of the work;
 * `StorageError`: the entries could not be stored, and nothing was done.
 */
export type RetentionAudit = (
  projects: readonly Project[],
  details: { readonly days: number; readonly before: string },
  work: () => Promise<void>,
) => Promise<void>;

interface AuditDeps {
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly logger: Record<"info" | "error", (what: object, message: string) => void>;
}

/** No key asks for it. */
const KEY = { keyId: "service", keyName: "retention" } as const;

export function createRetentionAudit({ log, clock, logger }: AuditDeps): RetentionAudit {
  return async (projects, details, work) => {
    const begun = projects.map((project): AuditEntry => ({
      ...KEY,
      id: randomUUID(),
      atUs: clock.now() * 1000,
      action: "retention.delete",
      projects: [project],
      requestId: "",
      details,
      outcome: "unknown",
      status: 0,
    }));
    const write = (outcome: AuditEntry["outcome"]): Promise<unknown> =>
      Promise.all(begun.map((entry) => log.write({ ...entry, outcome })));
    const end = async (outcome: "done" | "failed"): Promise<void> => {
      for (const { id, action, projects: of, keyId, keyName } of begun) {
        const line = {
          audit_id: id,
          action,
          outcome,
          status: 0,
          projects: of,
          key_id: keyId,
          key_name: keyName,
        };
        logger.info({ audit: { ...line, result: details } }, "audit");
      }
      // what is done is done, and cannot fail any more
      await write(outcome).catch((error: unknown) =>
        logger.error({ err: error }, "the outcome of retention could not be stored"),
      );
    };
    await write("unknown");
    try {
      await work();
    } catch (error) {
      await end("failed");
      throw error;
    }
    await end("done");
  };
}
