import { randomUUID } from "node:crypto";
import { endEntry, type AuditEntry, type AuditLogs } from "../../http/audit/audit-log.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";

/**
 * Runs deletions with an audit entry per project, stored before and again with the outcome. Errors: those of the work;
 * `StorageError` if the entries could not be stored, before anything is deleted.
 */
export type RetentionAudit = (
  projects: readonly Project[],
  details: { readonly days: number; readonly before: string },
  work: () => Promise<void>,
) => Promise<void>;

/** Key id of entries without a request. */
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
