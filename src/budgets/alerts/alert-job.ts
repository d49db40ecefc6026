import type { Clock } from "../../shared/clock.ts";
import type { BudgetState } from "../budget-state.ts";
import { alertEventJson } from "./alert-event.ts";
import type { AlertRow, AlertStore } from "./alert-store.ts";
import { crossedAlerts, type CrossedAlert } from "./crossed-alerts.ts";
import { ABANDONED_MS, type Deliveries } from "./deliveries.ts";

export interface AlertJobDeps {
  readonly states: () => Promise<readonly BudgetState[]>;
  readonly store: AlertStore;
  readonly deliveries: Deliveries;
  /** Name of this service, which outlives a restart, and which no other service of the store has. */
  readonly owner: string;
  readonly clock: Clock;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** Until another service's claim that was begun at the same time is stored. */
const SETTLE_MS = 1000;
const FOR_EVER_S = Date.UTC(2100, 0, 1) / 1000;
const KEPT_S = 60 * 86_400;

/**
 * Returns a job that stores what was crossed and starts to send what is due; not to be run concurrently. Errors: `StorageError`.
 * Each alert is sent once, over restarts and services:
 *
 * * It is stored as pending, with its owner, before it is sent. Its id is a hash of what was crossed, so a later run finds it,
 *   and a receiver recognises a repetition by its `webhook-id`.
 * * Several services may store it at the same time. Of rows with the same step the last one is current, for every reader: each
 *   service reads again after `SETTLE_MS`, and sends what it owns.
 * * An attempt stores the next step: when it is due again, or that it is over. The owner begins an attempt within half of
 *   `ABANDONED_MS`; after all of it, any service makes itself the owner in the same way.
 *
 * It can be sent twice if its owner is killed between the response and the next step, or stops for seconds while it claims.
 */
export function createAlertJob({ states, store, deliveries, owner, clock, wait }: AlertJobDeps) {
  /** Crossed alerts that are stored. */
  let stored: ReadonlySet<string> = new Set();
  const findNew = async (): Promise<readonly CrossedAlert[]> => {
    const crossed = crossedAlerts(await states());
    const unknown = crossed.map(({ id }) => id).filter((id) => !stored.has(id));
    const found = unknown.length === 0 ? [] : await store.find(unknown);
    const known = new Set([...stored, ...found.map(({ id }) => id)]);
    stored = new Set(crossed.map(({ id }) => id).filter((id) => known.has(id)));
    return crossed.filter(({ id }) => !known.has(id));
  };
  const readIdle = async (): Promise<readonly AlertRow[]> => {
    // before the read, which may have what is delivered and stored meanwhile as pending
    const open = deliveries.open();
    return (await store.pending()).filter(({ id }) => !open.has(id));
  };
  return async (): Promise<void> => {
    await deliveries.save();
    const nowMs = clock.now();
    const added = (await findNew()).map((alert) => newRow(alert, nowMs, owner));
    const known = await readIdle();
    const abandoned = known.filter((row) => row.due_at_ms + ABANDONED_MS <= nowMs);
    const taken = abandoned.map((row) => ({ ...row, owner, step: row.step + 1, due_at_ms: nowMs }));
    const claims = [...added, ...taken];
    if (claims.length > 0) await store.save(claims);
    if (claims.length > 0 && store.isShared()) await wait(SETTLE_MS);
    const pending = claims.length > 0 ? await readIdle() : known;
    for (const row of pending) if (row.owner === owner && row.due_at_ms <= nowMs) deliveries.add(row);
  };
}

function newRow(alert: CrossedAlert, nowMs: number, owner: string): AlertRow {
  const { budget, window } = alert.state;
  return {
    project_id: budget.project,
    id: alert.id,
    budget_id: budget.id,
    fraction: alert.fraction,
    event: alertEventJson(alert, nowMs),
    state: "pending",
    step: 1,
    owner,
    attempts: 0,
    due_at_ms: nowMs,
    expires_at: window.endUs === null ? FOR_EVER_S : Math.ceil(window.endUs / 1_000_000) + KEPT_S,
  };
}
