import type { Clock } from "../../shared/clock.ts";
import { LAST_STEP, type AlertRow, type AlertStore } from "./alert-store.ts";
import { pauseMs } from "./retry-schedule.ts";
import type { Attempt, SendAlert } from "./webhook.ts";

/** `retried`: an attempt failed, and another one follows; `failed`: none follows. */
export type AlertOutcome = "delivered" | "retried" | "failed";

export interface DeliveriesDeps {
  readonly store: AlertStore;
  readonly send: SendAlert;
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  readonly onOutcome: (outcome: AlertOutcome) => void;
  /** Aborted at shutdown: what is not delivered then stays pending. */
  readonly signal: AbortSignal;
}

/** Alerts sent at a time. Those of one budget are sent in order. */
const LANES = 8;
/** An alert that was due and not sent for so long is anybody's. */
export const ABANDONED_MS = 180_000;

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Sends alerts in the background. */
export function createDeliveries({ store, send, clock, log, onOutcome, signal }: DeliveriesDeps) {
  /** By id: undefined until the attempt is over, then the row to store. */
  const open = new Map<string, AlertRow | undefined>();
  const lanes = Array.from({ length: LANES }, () => Promise.resolve());
  /** Stores what attempts came to. Errors: `StorageError`; the rows are stored next time. */
  const save = async (): Promise<void> => {
    const rows = [...open.values()].filter((row) => row !== undefined);
    if (rows.length > 0) await store.save(rows);
    for (const row of rows) if (open.get(row.id) === row) open.delete(row.id);
  };
  const deliver = async (row: AlertRow): Promise<void> => {
    const isLate = clock.now() > row.due_at_ms + ABANDONED_MS / 2;
    const attempt = isLate || signal.aborted ? undefined : await send(row.id, row.event, signal);
    if (attempt === undefined || (attempt.result === "failed" && signal.aborted))
      return void open.delete(row.id);
    const next = afterAttempt(row, attempt, clock.now());
    const outcome = next.state === "pending" ? "retried" : next.state;
    onOutcome(outcome);
    const details = { alert: row.id, budget: row.budget_id, problem: attempt.problem, outcome };
    if (outcome !== "delivered") log.warn(details, "budget alert not delivered");
    open.set(row.id, next);
    await save().catch((error: unknown) => log.warn({ err: error }, "budget alert not stored"));
  };
  return {
    save,
    /** Returns the ids of what is being sent or not stored yet. */
    open: (): ReadonlySet<string> => new Set(open.keys()),
    add(row: AlertRow): void {
      if (open.has(row.id)) return;
      open.set(row.id, undefined);
      const lane = Buffer.from(row.budget_id).reduce((sum, byte) => sum + byte, 0) % LANES;
      lanes[lane] = lanes[lane]!.then(() => deliver(row));
    },
    /** Resolves when nothing is being sent. */
    async idle(): Promise<void> {
      await Promise.all(lanes);
    },
  };
}

function afterAttempt(row: AlertRow, { result, retryAfterMs }: Attempt, nowMs: number): AlertRow {
  const attempts = row.attempts + 1;
  const pause = result === "failed" ? pauseMs(attempts, retryAfterMs) : undefined;
  return pause === undefined
    ? { ...row, attempts, state: result === "delivered" ? "delivered" : "failed", step: LAST_STEP }
    : { ...row, attempts, step: row.step + 1, due_at_ms: Math.round(nowMs + pause) };
}
