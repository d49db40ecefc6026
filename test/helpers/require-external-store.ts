import { hasExternalStore } from "./external-store.ts";

/** Before all tests of a run that makes sense on a named store alone. */
export function setup(): void {
  if (!hasExternalStore)
    throw new Error("STORE_URLS and STORE_CLUSTER must name a cluster: see docs/cluster.md.");
}
