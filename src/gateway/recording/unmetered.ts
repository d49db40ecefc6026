import type { FastifyBaseLogger } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { Clock } from "../../shared/clock.ts";

/** Reports a request that is relayed unmeasured, by the pattern that lets its path pass. */
export type ReportUnmetered = (path: string) => void;

const LOG_INTERVAL_MS = 60_000;

/** Reports to the operator: in a metric, and once a minute for each pattern in the log. */
export function createUnmetered(registry: Registry, clock: Clock, log: FastifyBaseLogger): ReportUnmetered {
  const name = "sumtree_gateway_unmetered_total";
  const help = "Relayed requests whose usage is not measured, by the pattern of their path";
  const relayed = new Counter({ name, help, labelNames: ["path"], registers: [registry] });
  const logged = new Map<string, { nextMs: number; count: number }>();
  return (path) => {
    relayed.inc({ path });
    const { nextMs, count } = logged.get(path) ?? { nextMs: 0, count: 0 };
    const isDue = clock.now() >= nextMs;
    if (isDue) log.warn({ path, count: count + 1 }, "requests relayed unmeasured");
    logged.set(
      path,
      isDue ? { nextMs: clock.now() + LOG_INTERVAL_MS, count: 0 } : { nextMs, count: count + 1 },
    );
  };
}
