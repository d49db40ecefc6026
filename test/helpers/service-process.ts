import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CHILD_ENVIRONMENT } from "./child-environment.ts";
import { authorization } from "./start-app.ts";

type ServiceChild = ChildProcessByStdio<null, Readable, Readable>;

export interface ServiceProcess {
  readonly url: string;
  readonly child: ServiceChild;
  post(path: string, body: unknown): Promise<Response>;
  /** Its memory. Linux only. */
  residentMiB(): number;
  /** Ends the process with a signal and waits until it is gone; its exit code, null when it was killed. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

const MAIN = join(import.meta.dirname, "../../src/main.ts");

/** The service as a process of its own, on a free port; `main`: that of another version. */
export async function startProcess(
  environment: Readonly<Record<string, string>>,
  main?: string,
): Promise<ServiceProcess> {
  const child = spawnProcess(environment, main);
  const url = await listeningUrl(child);
  return {
    url,
    child,
    post: (path, body) =>
      fetch(url + path, {
        method: "POST",
        headers: {
          authorization: authorization(environment["ROOT_API_KEY"]),
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      }),
    residentMiB() {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const gone = once(child, "exit");
      child.kill(signal);
      const [code] = (await gone) as [number | null];
      return code;
    },
  };
}

/** The process alone, which has done nothing yet. */
export function spawnProcess(environment: Readonly<Record<string, string>>, main = MAIN): ServiceChild {
  return spawn(process.execPath, [main], {
    env: { ...CHILD_ENVIRONMENT, PORT: "0", LOG_LEVEL: "info", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function listeningUrl(child: ServiceChild): Promise<string> {
  let printed = "";
  child.stderr.on("data", (text: Buffer) => (printed += text.toString()));
  const lines = createInterface({ input: child.stdout });
  const gone = once(child, "exit").then(() => Promise.reject(new Error(`the service ended: ${printed}`)));
  const url = (async () => {
    for await (const line of lines) {
      const found = /Server listening at (http:\/\/[\d.:]+)/.exec(line)?.[1];
      if (found !== undefined) return found;
      printed += `${line}\n`;
    }
    return Promise.reject(new Error(`the service printed nothing: ${printed}`));
  })();
  const found = await Promise.race([url, gone]);
  gone.catch(() => undefined);
  child.stdout.resume();
  return found;
}
