import { setTimeout as delay } from "node:timers/promises";

/** Waits until a condition holds. Errors: it does not within `timeoutMs`, which a busy machine must not exceed. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - began;
    if (waited > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${condition.toString()}`);
    // a condition that asks a service would keep it busy
    await delay(Math.min(2 + waited / 20, 50));
  }
}
