import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { generateKey } from "../src/http/auth/api-key.ts";
import { openEmbedded } from "../src/store/connect.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { startProcess, type ServiceProcess } from "../test/helpers/service-process.ts";
import { inChild } from "./load/in-child.ts";
import type { ReadResult, ReadTask } from "./load/read.ts";
import { peakAboveIdle } from "./peak-memory.ts";
import { fillCalls } from "./sample-calls.ts";
import { figure, spreadOf, type Scenario, type ScenarioResult } from "./scenario.ts";

const PROJECT = "bench/million";
const LIMIT_MIB = 300;
const everything = { project_id: PROJECT, limit: 1_000_000 };
const oneTrace = { project_id: PROJECT, filter: { trace_ids: ["trace-00000000"] } };

/** Clients that ask for everything and read nothing, and connections that ask for nothing. */
const STALLED = 24;
const STALLED_MIB = 800;
const SILENT = 3000;
const SILENT_MIB = 100;
const MATERIALIZED_MS = 8000;

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

/** The peak above idle while so many connections are open and read nothing. */
async function held(
  service: ServiceProcess,
  what: string,
  {
    count,
    limitMiB,
    request,
  }: { readonly count: number; readonly limitMiB: number; readonly request?: string },
): Promise<ScenarioResult> {
  const open: Socket[] = [];
  const aboveMiB = await peakAboveIdle(service, async () => {
    for (let n = 0; n < count; n++) {
      const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1" });
      socket.on("error", () => undefined).pause();
      if (request !== undefined) socket.write(request);
      open.push(socket);
    }
    await delay(MATERIALIZED_MS);
  });
  for (const socket of open) socket.destroy();
  const target = { text: `≤ ${limitMiB} MB`, used: aboveMiB / limitMiB };
  return figure(`peak above idle with ${what}`, spreadOf([aboveMiB]), { unit: "MB", target });
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
        const target = { text: `≤ ${LIMIT_MIB} MB`, used: aboveMiB / LIMIT_MIB };
        results.push(figure(measured, spreadOf([aboveMiB]), { unit: "MB", target }));
      }
      const service = await startFilled(join(dir, "held"), key);
      results.push(
        await held(service, `${SILENT} silent connections`, { count: SILENT, limitMiB: SILENT_MIB }),
      );
      const body = JSON.stringify(everything);
      const request = `POST /trace/usage HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      const what = `${STALLED} clients that ask for 1,000,000 calls and read nothing`;
      results.push(await held(service, what, { count: STALLED, limitMiB: STALLED_MIB, request }));
      await service.end("SIGTERM");
      return results;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
