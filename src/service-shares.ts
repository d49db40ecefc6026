import { Counter, Gauge, type Registry } from "prom-client";
import type { Config } from "./config.ts";
import { FairShare } from "./shares/fair-share.ts";
import { ALONE } from "./shares/holdings.ts";

/** What requests use at once, divided among projects and keys. The store divides its statements itself. */
export type Shares = ReturnType<typeof createShares>;

export function createShares(config: Config) {
  return {
    requests: new FairShare({ capacity: Math.ceil(config.KEY_MAX_CONCURRENT / ALONE) }),
    streams: new FairShare({ capacity: config.MAX_STREAMED_RESPONSES }),
    /** Bytes of bodies. */
    bodies: new FairShare({ capacity: config.MAX_BODY_BYTES_IN_FLIGHT }),
    /** Requests in the second thread. */
    largeBodies: new FairShare({ capacity: 4, maxWaiting: 1000 }),
    /** Bytes that wait for the store. */
    writes: new FairShare({ capacity: config.INGEST_MAX_PENDING_BYTES }),
    gateway: new FairShare({ capacity: config.UPSTREAM_MAX_CONCURRENT }),
  };
}

export function registerShareMetrics(registry: Registry, shares: Shares): void {
  const all = Object.entries(shares);
  const inUse: Gauge<"limiter"> = new Gauge({
    name: "sumtree_limiter_in_use",
    help: "Limiter units in use (requests, streams or bytes)",
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
      for (const [limiter, one] of all) rejected.inc({ limiter }, one.counts().refused);
    },
  });
  registry.registerMetric(inUse);
  registry.registerMetric(rejected);
}
