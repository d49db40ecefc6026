import { FairQueue } from "./fair-queue.ts";
import { currentTenant, type Tenant } from "./tenant.ts";

const waiting = new FairQueue<() => void>();
let isRunning = false;

/** How long work keeps the thread at first, when others may begin as well, and then in each of its turns. */
const AT_ONCE_MS = 1;
const KEPT_MS = 4;

/** Does long work step by step, and waits for a turn whenever it has kept the thread for some milliseconds. */
export async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let mayKeepMs = AT_ONCE_MS; ; mayKeepMs = KEPT_MS) {
    const until = performance.now() + mayKeepMs;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < until);
    await turn();
  }
}

/**
 * Waits until the thread may be kept for some milliseconds. Each turn of the event loop has one that keeps it so long, and
 * everything else that is ready comes in between. Projects have their turns, and of a project its keys.
 */
export function turn(): Promise<void> {
  return turnOf(currentTenant());
}

/** The same before the work of a request is done on behalf of its holder. */
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
