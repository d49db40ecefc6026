// oxlint-disable-next-line import/default -- Vite makes it: the address of the built worker
import workerUrl from "./worker.ts?worker&url";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(url: string): string };
}

/** Browsers that enforce trusted types only start scripts from trusted addresses. This policy knows one. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("trace-worker", {
  createScriptURL: () => workerUrl,
});

let ready: Worker | undefined;

/** Starts a worker in advance for the trace that may be opened next. */
export function prepareWorker(): void {
  if (ready !== undefined) return;
  const worker = startWorker();
  // its script could not be fetched
  worker.addEventListener("error", () => (ready = ready === worker ? undefined : ready));
  ready = worker;
}

/** The caller has to terminate it. */
export function takeWorker(): Worker {
  const worker = ready ?? startWorker();
  ready = undefined;
  return worker;
}

function startWorker(): Worker {
  return new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: "module" });
}
