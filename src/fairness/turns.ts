import { FairQueue } from "./fair-queue.ts";
import { currentTenant, type Tenant } from "./tenant.ts";

const waiting = new FairQueue<() => void>();
let isRunning = false;

/** One event-loop turn takes about as long, beyond which other requests would notice. */
const SLICE_MS = 8;

/** Runs long work step by step, yielding the event loop after each time slice. */
export async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  const pause = pacer();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const wait = pause();
    if (wait !== undefined) await wait;
  }
}

/** Creates a function that waits for the next time slice once the current one is over. */
export function pacer(): () => Promise<void> | undefined {
  let until = performance.now() + SLICE_MS;
  return () => {
    if (performance.now() < until) return undefined;
    return turn().then(() => {
      until = performance.now() + SLICE_MS;
    });
  };
}

/**
 * Waits for a time slice. Each turn of the event loop grants one; other ready work runs in between. Slices are shared
 * fairly among entities.
 */
export function turn(): Promise<void> {
  return turnOf(currentTenant());
}

/** Waits for a time slice of the given tenant, before `runAsTenant`. */
export function turnOf(tenant: Tenant): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push({ tenant, cost: 1, value: resolve });
  if (!isRunning) setImmediate(next);
  isRunning = true;
  return promise;
}

function next(): void {
  const one = waiting.take(() => true);
  isRunning = one !== undefined;
  if (one === undefined) return;
  one.value();
  setImmediate(next);
}
