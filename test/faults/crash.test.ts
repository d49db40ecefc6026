import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

let service: ServiceProcess;
let dir: string;
afterEach(async () => {
  if (service.child.signalCode === null) await service.end("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

/** A service whose engine has worked in several sessions. */
async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  dir = mkdtempSync(join(tmpdir(), "sumtree-crash-"));
  service = await startProcess({ DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY, ...environment });
  const asked = Array.from({ length: 4 }, () => service.post("/trace/usage", { project_id: "a/b" }));
  for (const response of await Promise.all(asked)) expect(response.status).toBe(200);
}

/** Returns the signal that ended the process. */
async function endedBy(): Promise<NodeJS.Signals | null> {
  const { child } = service;
  if (child.signalCode === null) await once(child, "exit");
  return child.signalCode;
}

describe("a crash ends the process, so that a supervisor restarts it", () => {
  it.each(["SIGABRT", "SIGILL", "SIGSEGV"] as const)("%s", async (signal) => {
    await start();
    service.child.kill(signal);
    expect(await endedBy()).toBe(signal);
  });

  it("heap exhaustion", async () => {
    const program = join(import.meta.dirname, "programs/fill-heap.ts");
    await start({ NODE_OPTIONS: `--max-old-space-size=64 --import=${program}` });
    service.child.kill("SIGUSR2");
    expect(["SIGABRT", "SIGTRAP"]).toContain(await endedBy());
  });
});
