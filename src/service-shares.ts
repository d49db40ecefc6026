import { Counter, Gauge, type Registry } from "prom-client";
import type { Config } from "./config.ts";
import { FairShare } from "./shares/fair-share.ts";
import { ALONE } from "./shares/holdings.ts";

/** What requests use at once, divided among projects and keys. The store divides its statements itself. */
export type Shares = ReturnType<typeof createShares>;

export function createShares(config: Config) {
  return {
    requests: new FairShare({ capacity: Math.ceil(config.KEY_MAX_CONCURRENT / ALONE) }),
    streams: new FairShare({ capacity: config.MAX_STREAMED_ANSWERS }),
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
  const held: Gauge<"share"> = new Gauge({
    name: "sumtree_share_held",
    help: "What is in use of what projects and keys share",
    labelNames: ["share"],
    registers: [],
    collect: (): void => {
      for (const [share, one] of all) held.set({ share }, one.counts().held);
    },
  });
  const refused: Counter<"share"> = new Counter({
    name: "sumtree_share_refused_total",
    help: "How often a project or a key could have no more of it",
    labelNames: ["share"],
    registers: [],
    collect: (): void => {
      refused.reset();
      for (const [share, one] of all) refused.inc({ share }, one.counts().refused);
    },
  });
  registry.registerMetric(held);
  registry.registerMetric(refused);
}
