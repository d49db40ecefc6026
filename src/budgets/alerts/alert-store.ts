import { param, sql } from "../../query/sql.ts";
import type { Engine } from "../../store/engine.ts";

/** Row of `budget_alerts`. */
export interface AlertRow {
  readonly project_id: string;
  readonly id: string;
  readonly budget_id: string;
  readonly fraction: number;
  readonly event: string;
  readonly state: "pending" | "delivered" | "failed";
  readonly step: number;
  readonly owner: string;
  readonly attempts: number;
  readonly due_at_ms: number;
  /** In seconds since the epoch. */
  readonly expires_at: number;
}

/** Above every other step, so that what is over stays over. */
export const LAST_STEP = 2 ** 32 - 1;

const TABLE = "budget_alerts";

export type AlertStore = ReturnType<typeof createAlertStore>;

/** Stores alerts. Errors: `StorageError`. */
export function createAlertStore(engine: Engine) {
  return {
    /** True if other services may write. */
    isShared: (): boolean => engine.writeCountOf(TABLE) === undefined,
    save: (rows: readonly AlertRow[]): Promise<void> =>
      engine.insert(TABLE, rows, { name: "budget_alerts_save" }),
    /** Returns those of some ids that are stored, in any state. */
    find: (ids: readonly string[]): Promise<readonly { readonly id: string }[]> =>
      engine.rows(sql`SELECT DISTINCT id FROM budget_alerts WHERE id IN ${param("Array(String)", ids)}`, {
        name: "budget_alerts_find",
        // an alert that a replica lacks would be sent again
        synced: TABLE,
      }),
    /** Returns up to 1,000 alerts that are not over, first due first. */
    pending: (): Promise<readonly AlertRow[]> =>
      engine.rows<AlertRow>(
        sql`SELECT project_id, id, budget_id, fraction, event, state, step, owner, attempts, due_at_ms,
              toUnixTimestamp(expires_at) AS expires_at
            FROM budget_alerts FINAL WHERE state = 'pending' ORDER BY due_at_ms, fraction, id LIMIT 1000`,
        { name: "budget_alerts_pending", synced: TABLE, dependsOn: [TABLE] },
      ),
  };
}
