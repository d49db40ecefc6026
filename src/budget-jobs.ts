import { hostname } from "node:os";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Counter, type Registry } from "prom-client";
import { createAlertJob } from "./budgets/alerts/alert-job.ts";
import { createAlertStore } from "./budgets/alerts/alert-store.ts";
import { createDeliveries, type AlertOutcome } from "./budgets/alerts/deliveries.ts";
import { createWebhook } from "./budgets/alerts/webhook.ts";
import { registerBudgetMetrics, type BudgetSources } from "./budgets/metrics.ts";
import type { Spending } from "./budgets/spending.ts";
import type { Config } from "./config.ts";
import { registerPeriodic } from "./periodic.ts";
import type { Clock } from "./shared/clock.ts";
import type { Engine } from "./store/engine.ts";

const EVERY_MS = 5000;

export interface BudgetJobs extends BudgetSources {
  readonly engine: Engine;
  readonly spending: Pick<Spending, "renewClaims">;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Monotonic. */
  readonly steady: Clock;
}

/** Registers the metrics of budgets, the renewal of claims and, with ALERT_WEBHOOK_URL, the job that sends alerts. */
export function registerBudgetJobs(app: FastifyInstance, config: Config, deps: BudgetJobs): void {
  const { engine, registry, clock, states, spending } = deps;
  if (config.BUDGET_REPLICAS > 1) {
    const run = (): Promise<void> => spending.renewClaims();
    registerPeriodic(app, { name: "budget_claims", everyMs: EVERY_MS, run });
  }
  const readMetrics = registerBudgetMetrics(registry, deps, deps.steady);
  app.addHook("onReady", readMetrics);
  const onOutcome = outcomeCounter(registry);
  const { ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secrets, ALERT_WEBHOOK_FORMAT: format } = config;
  if (url === undefined) return;
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  const store = createAlertStore(engine);
  const deliveries = createDeliveries({
    store,
    send: createWebhook({ url, secrets, format }, clock),
    clock,
    log: app.log,
    onOutcome,
    signal: closing.signal,
  });
  // two services cannot share a DATA_DIR
  const owner = `${hostname()}:${resolve(config.DATA_DIR)}`;
  const run = createAlertJob({ states, store, deliveries, owner, clock, wait: delay });
  registerPeriodic(app, { name: "budget_alerts", everyMs: EVERY_MS, atStart: true, run });
  app.addHook("onClose", () => deliveries.idle());
}

function outcomeCounter(registry: Registry): (outcome: AlertOutcome) => void {
  const counter = new Counter({
    name: "sumtree_budget_alerts_total",
    help: "Attempts to deliver budget alerts, by outcome: delivered, retried later, or failed for good",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["delivered", "retried", "failed"]) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}
