// oxlint-disable-next-line import/default -- Vite makes it: the address of the built worker
import workerUrl from "./worker.ts?worker&url";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(url: string): string };
}

/** Browsers that enforce it start no script whose address is not trusted: this one is, whatever is asked for. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("trace-worker", {
  createScriptURL: () => workerUrl,
});

let ready: Worker | undefined;

/** Starts a worker for the trace that may be opened next: it would be waited for then. */
export function prepareWorker(): void {
  if (ready !== undefined) return;
  const worker = startWorker();
  // one that could not be fetched is of no use
  worker.addEventListener("error", () => (ready = ready === worker ? undefined : ready));
  ready = worker;
}

/** Whoever takes it ends it. */
export function takeWorker(): Worker {
  const worker = ready ?? startWorker();
  ready = undefined;
  return worker;
}

function startWorker(): Worker {
  return new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: "module" });
}
