import type { Engine } from "../../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../../store/group-commit.ts";
import { toStoreText, type EpochMicros } from "../../shared/instant.ts";

export const AUDIT_ACTIONS = [
  "key.create",
  "key.revoke",
  "prices.set",
  "prices.purge",
  "factors.set",
  "factors.purge",
  "calls.delete",
  "feedback.purge",
  "project.delete",
  "retention.set",
  "retention.delete",
  "backup.create",
  "backup.restore",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** `unknown`: the action began, but the process or the store failed before its outcome was stored. */
export const AUDIT_OUTCOMES = ["done", "refused", "failed", "unknown"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export interface AuditEntry {
  readonly id: string;
  readonly atUs: EpochMicros;
  readonly action: AuditAction;
  /** Projects or project patterns. */
  readonly projects: readonly string[];
  readonly keyId: string;
  readonly keyName: string;
  readonly requestId: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: AuditOutcome;
  /** Status of the response; 0 if there was none. */
  readonly status: number;
}

export interface AuditLog {
  /** Stores the entry; it replaces the `unknown` entry of the same id and time. */
  write(entry: AuditEntry): Promise<void>;
  drain(): Promise<void>;
}

/** Sink of audit entries: the store and the service log. */
export interface AuditLogs {
  readonly log: AuditLog;
  readonly logger: Record<"info" | "error", (what: object, message: string) => void>;
}

/**
 * Logs and stores the outcome of an action. A failed write is only logged, because the action is done. The log has `result`
 * instead of the details, which contain text from clients.
 */
export async function endEntry(
  { log, logger }: AuditLogs,
  entry: AuditEntry,
  result: AuditEntry["details"],
): Promise<void> {
  const { id, action, outcome, status, projects, keyId, keyName } = entry;
  const line = { audit_id: id, action, outcome, status, projects, key_id: keyId, key_name: keyName, result };
  logger.info({ audit: line }, "audit");
  try {
    await log.write(entry);
  } catch (error) {
    logger.error({ err: error, audit_id: id }, "the outcome of an audited action could not be stored");
  }
}

const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const ROW_BYTES = 512;

export function createAuditLog(engine: Engine, settings: GroupCommitSettings): AuditLog {
  const commit = createGroupCommit<AuditEntry>({
    ...settings,
    name: "audit_write",
    flush: (entries) => engine.insert("audit", entries.map(toRow), { name: "audit_write" }),
    sizeOf: (entry) => ROW_BYTES + JSON.stringify(entry.details).length,
    maxBatchBytes: MAX_BATCH_BYTES,
  });
  return { write: (entry) => commit.write([entry]), drain: () => commit.drain() };
}

function toRow(entry: AuditEntry) {
  return {
    at: toStoreText(entry.atUs),
    id: entry.id,
    projects: entry.projects,
    action: entry.action,
    key_id: entry.keyId,
    key_name: entry.keyName,
    request_id: entry.requestId,
    details: JSON.stringify(entry.details),
    outcome: entry.outcome,
    status: entry.status,
    step: entry.outcome === "unknown" ? 0 : 1,
  };
}
