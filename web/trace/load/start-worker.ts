// oxlint-disable-next-line import/default -- Vite makes it: the address of the built worker
import workerUrl from "./worker.ts?worker&url";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(url: string): string };
}

/** Browsers that enforce it start no script whose address is not trusted: this one is, whatever is asked for. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("trace-worker", {
  createScriptURL: () => workerUrl,
});

export function startWorker(): Worker {
  return new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: "module" });
}
