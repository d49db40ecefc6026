import type { Engine } from "../../store/engine.ts";
import { toStoreText, type EpochMicros } from "../../shared/instant.ts";

export const AUDIT_ACTIONS = [
  "key.create",
  "key.revoke",
  "prices.set",
  "prices.purge",
  "budget.create",
  "budget.update",
  "budget.delete",
  "calls.delete",
  "feedback.purge",
  "project.delete",
  "retention.set",
  "retention.delete",
  "backup.create",
  "backup.restore",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_OUTCOMES = ["done", "refused", "failed"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Entry, as the store has it except for `details` and the form of its time. */
export interface AuditEntry {
  readonly id: string;
  readonly at_us: EpochMicros;
  readonly action: AuditAction;
  /** Projects or project patterns. */
  readonly projects: readonly string[];
  readonly key_id: string;
  readonly key_name: string;
  readonly request_id: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: AuditOutcome;
  /** Status of the response; 0 if there was none. */
  readonly status: number;
}

export type AuditLogger = Record<"info" | "error", (what: object, message: string) => void>;

/** Stores entries. Errors: `StorageError`. */
export async function storeAudit(engine: Engine, entries: readonly AuditEntry[]): Promise<void> {
  const rows = entries.map(({ at_us, details, ...entry }) => ({
    ...entry,
    at: toStoreText(at_us),
    details: JSON.stringify(details),
  }));
  await engine.insert("audit", rows, { name: "audit_write" });
}

/**
 * Logs and stores entries of actions that have ended, so a failed write is only logged. The log has `result` instead of the
 * details, which contain text from clients.
 */
export async function endAudit(
  engine: Engine,
  logger: AuditLogger,
  entries: readonly AuditEntry[],
  result: AuditEntry["details"],
): Promise<void> {
  for (const { id, at_us: _, request_id: __, details: ___, ...entry } of entries)
    logger.info({ audit: { audit_id: id, ...entry, result } }, "audit");
  try {
    await storeAudit(engine, entries);
  } catch (error) {
    logger.error(
      { err: error, audit_ids: entries.map(({ id }) => id) },
      "audited actions could not be stored",
    );
  }
}
