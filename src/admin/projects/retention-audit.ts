import { randomUUID } from "node:crypto";
import { endEntry, type AuditEntry, type AuditLogs } from "../../http/audit/audit-log.ts";
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

/** No key asks for it. */
const KEY = { keyId: "service", keyName: "retention" } as const;

export function createRetentionAudit(logs: AuditLogs, clock: Clock): RetentionAudit {
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
    const end = (outcome: "done" | "failed"): Promise<unknown> =>
      Promise.all(begun.map((entry) => endEntry(logs, { ...entry, outcome }, details)));
    await Promise.all(begun.map((entry) => logs.log.write(entry)));
    try {
      await work();
    } catch (error) {
      await end("failed");
      throw error;
    }
    await end("done");
  };
}
