import { Counter, Gauge, type Registry } from "prom-client";
import type { Config } from "./config.ts";
import { FairSemaphore, KEY_SHARE } from "./fairness/fair-semaphore.ts";

/** Limiters shared by entities and keys. The store limits its statements itself. */
export type Limiters = ReturnType<typeof createLimiters>;

export function createLimiters(config: Config) {
  return {
    requests: new FairSemaphore({ capacity: Math.ceil(config.KEY_MAX_CONCURRENT / KEY_SHARE) }),
    /** Bytes of request bodies. */
    bodies: new FairSemaphore({ capacity: config.MAX_BODY_BYTES_IN_FLIGHT }),
    /** Bytes waiting to be stored. */
    writes: new FairSemaphore({ capacity: config.INGEST_MAX_PENDING_BYTES }),
    gateway: new FairSemaphore({ capacity: config.UPSTREAM_MAX_CONCURRENT }),
  };
}

export function registerLimiterMetrics(registry: Registry, limiters: Limiters): void {
  const all = Object.entries(limiters);
  const inUse: Gauge<"limiter"> = new Gauge({
    name: "sumtree_limiter_in_use",
    help: "Limiter units in use (requests or bytes)",
    labelNames: ["limiter"],
    registers: [],
    collect: (): void => {
      for (const [limiter, one] of all) inUse.set({ limiter }, one.counts().held);
    },
  });
  const rejected: Counter<"limiter"> = new Counter({
    name: "sumtree_limiter_rejected_total",
    help: "Acquisitions rejected because capacity or the fair share was exhausted, by limiter",
    labelNames: ["limiter"],
    registers: [],
    collect: (): void => {
      rejected.reset();
      for (const [limiter, one] of all) rejected.inc({ limiter }, one.counts().rejected);
    },
  });
  registry.registerMetric(inUse);
  registry.registerMetric(rejected);
}
