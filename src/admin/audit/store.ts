import type { AuditAction, AuditEntry, AuditOutcome } from "../../http/audit/audit-log.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";
import type { Engine } from "../../store/engine.ts";
import type { EpochMicros } from "../../shared/instant.ts";

export interface AuditRow extends Omit<AuditEntry, "details"> {
  readonly details: string;
}

export interface AuditQuery {
  readonly start?: EpochMicros | undefined;
  readonly end?: EpochMicros | undefined;
  readonly action?: AuditAction | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly key_id?: string | undefined;
  readonly project_id?: string | undefined;
  /** Last entry of the page before. */
  readonly before?: readonly [at: EpochMicros, id: string] | undefined;
  readonly limit: number;
}

/** Reads the latest entries that a key with these projects may read, latest first. */
export function readAudit(
  engine: Engine,
  visible: readonly string[],
  requested: AuditQuery,
): Promise<readonly AuditRow[]> {
  const conditions = join([areWithin(visible), ...conditionsOf(requested)], " AND ");
  return engine.rows<AuditRow>(
    sql`SELECT id, toUnixTimestamp64Micro(at) AS at_us, action, projects, key_id, key_name, request_id, details, outcome, status
        FROM audit FINAL WHERE ${conditions}
        ORDER BY at DESC, id DESC LIMIT ${param("UInt32", requested.limit)}`,
    { name: "audit_read", limits: "heavy" },
  );
}

function conditionsOf({ start, end, before, ...requested }: AuditQuery): readonly Sql[] {
  const conditions: Sql[] = [];
  if (start !== undefined) conditions.push(sql`at >= ${instant(start)}`);
  if (end !== undefined) conditions.push(sql`at < ${instant(end)}`);
  if (before !== undefined) {
    const at = instant(before[0]);
    conditions.push(sql`at <= ${at} AND (at < ${at} OR id < ${param("String", before[1])})`);
  }
  if (requested.action !== undefined) conditions.push(sql`action = ${param("String", requested.action)}`);
  if (requested.outcome !== undefined) conditions.push(sql`outcome = ${param("String", requested.outcome)}`);
  if (requested.key_id !== undefined) conditions.push(sql`key_id = ${param("String", requested.key_id)}`);
  if (requested.project_id !== undefined)
    conditions.push(sql`has(projects, ${param("String", requested.project_id)})`);
  return conditions;
}

function instant(us: EpochMicros): Sql {
  return sql`fromUnixTimestamp64Micro(${param("Int64", us)}, 'UTC')`;
}

/** SQL predicate: all projects of an entry are covered. */
function areWithin(patterns: readonly string[]): Sql {
  if (patterns.includes("*")) return sql`1`;
  const entities = patterns
    .filter((pattern) => pattern.endsWith("/*"))
    .map((pattern) => pattern.slice(0, -1));
  return sql`arrayAll(one -> has(${param("Array(String)", patterns)}, one)
    OR arrayExists(entity -> startsWith(one, entity), ${param("Array(String)", entities)}), projects)`;
}
