import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { generateKey } from "../src/http/auth/api-key.ts";
import { openEmbedded } from "../src/store/connect.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { startProcess, type ServiceProcess } from "../test/helpers/service-process.ts";
import { inChild } from "./load/in-child.ts";
import type { ReadResult, ReadTask } from "./load/read.ts";
import { fillCalls } from "./sample-calls.ts";
import { figure, spreadOf, type Scenario, type ScenarioResult } from "./scenario.ts";

const PROJECT = "bench/million";
const LIMIT_MIB = 300;
const everything = { project_id: PROJECT, limit: 1_000_000 };
const oneTrace = { project_id: PROJECT, filter: { trace_ids: ["trace-00000000"] } };

interface Reader {
  readonly what: string;
  readonly bytesPerMs: number;
}

const readers: readonly Reader[] = [
  { what: "read as fast as it comes", bytesPerMs: 1e9 },
  { what: "read at 40 MB/s", bytesPerMs: 40_000 },
];

/** The service, started on a filled directory. */
async function startFilled(dir: string, key: string): Promise<ServiceProcess> {
  const engine = await openEmbedded(dir);
  await migrate(engine, { cluster: undefined });
  await fillCalls(engine, { project: PROJECT, calls: 1_000_000, callsPerTrace: 1000 });
  await engine.close();
  return startProcess({ DATA_DIR: dir, ROOT_API_KEY: key });
}

/** The peak of the service's resident memory while it answers, above what it was before. Linux. */
async function peakAboveIdle(service: ServiceProcess, work: () => Promise<unknown>): Promise<number> {
  await delay(1000);
  const { pid } = service.child;
  const idleMiB = service.residentMiB();
  writeFileSync(`/proc/${pid}/clear_refs`, "5"); // resets the peak
  await work();
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024 - idleMiB;
}

export const scenario: Scenario = {
  name: "memory",
  async run() {
    const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
    const key = generateKey().text;
    const results: ScenarioResult[] = [];
    try {
      for (const { what, bytesPerMs } of readers) {
        // a process for each, because memory that was used once stays with its process
        const service = await startFilled(join(dir, what), key);
        const task = { url: service.url, key, path: "/trace/usage", bytesPerMs };
        const read = (body: object) => inChild<ReadResult>("read.ts", { ...task, body } satisfies ReadTask);
        for (let n = 0; n < 5; n++) await read(oneTrace);
        const aboveMiB = await peakAboveIdle(service, () => read(everything));
        await service.end("SIGTERM");
        const measured = `peak above idle for 1,000,000 calls in 1,000 traces, ${what}`;
        const target = { text: `≤ ${LIMIT_MIB} MB`, met: aboveMiB <= LIMIT_MIB };
        results.push(figure(measured, spreadOf([aboveMiB]), { unit: "MB", target }));
      }
      return results;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
