import { FairQueue } from "./fair-queue.ts";
import { currentTenant, type Tenant } from "./tenant.ts";

const waiting = new FairQueue<() => void>();
let isRunning = false;

/** Time slices in ms: the first, while others may start too, and each later one. */
const FIRST_SLICE_MS = 1;
const SLICE_MS = 4;

/** Runs long work step by step, yielding the event loop after each time slice. */
export async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let sliceMs = FIRST_SLICE_MS; ; sliceMs = SLICE_MS) {
    const until = performance.now() + sliceMs;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < until);
    await turn();
  }
}

/**
 * Waits for a time slice. Each turn of the event loop grants one; other ready work runs in between. Slices are shared
 * fairly among projects, then keys.
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
