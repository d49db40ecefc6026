import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/http/auth/api-key.ts";
import { openEmbedded } from "../src/store/connect.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { startProcess, type ServiceProcess } from "../test/helpers/service-process.ts";
import { inChild } from "./load/in-child.ts";
import type { ReadResult, ReadTask } from "./load/read.ts";
import { peakAboveIdle } from "./peak-memory.ts";
import { fillChats } from "./sample-chats.ts";
import { figure, spreadOf, type Scenario, type ScenarioResult } from "./scenario.ts";

const CALLS = Number(process.env["DATASETS_CALLS"] ?? 1_000_000);
const SIZES = [CALLS / 10, CALLS];
const large = CALLS.toLocaleString("en-US");

interface Export {
  readonly what: string;
  readonly question: object;
  readonly limitMiB: number;
  /** Minimum of its calls per second, as a part of those that are read without being exported. */
  readonly rate: number;
}

const rated = (value: number) => ({ feedback: { json_path: "score", op: "$gte", value } });
const exports: readonly Export[] = [
  { what: "chat, with dedupe", question: { format: "chat", dedupe: true }, limitMiB: 900, rate: 0.4 },
  { what: "trajectories", question: { format: "trajectories", ...rated(0) }, limitMiB: 1800, rate: 0.15 },
  { what: "preference", question: { format: "preference", ...rated(0.5) }, limitMiB: 1800, rate: 0.12 },
];

const projectOf = (calls: number): string => `bench/chats-${calls}`;

async function fill(dir: string): Promise<void> {
  const engine = await openEmbedded(dir);
  await migrate(engine, { cluster: undefined });
  for (const calls of SIZES) await fillChats(engine, { project: projectOf(calls), calls });
  await engine.close();
}

/** Exports a project, and reads its calls without exporting them. */
async function measure(service: ServiceProcess, key: string, { calls, question }: Question) {
  const project_id = projectOf(calls);
  const read = (path: string, body: object): Promise<ReadResult> =>
    inChild("read.ts", { url: service.url, key, path, body, bytesPerMs: 1e9 } satisfies ReadTask);
  const stream = (limit: number) =>
    read("/calls/stream_query", { project_id, limit, columns: ["inputs", "output"] });
  await stream(1000);
  let received = { bytes: 0, elapsedMs: 0 };
  const aboveMiB = await peakAboveIdle(service, async () => {
    received = await read("/dataset/export", { project_id, ...question });
  });
  const listed = await service.post("/dataset/query", { project_id, limit: 1 });
  const { exports: manifests } = (await listed.json()) as { exports: readonly Manifest[] };
  const { counts, bytes } = manifests[0]!;
  if (counts.exported !== calls || bytes !== received.bytes)
    throw new Error(`${JSON.stringify(question)}: ${counts.exported} of ${calls} calls in ${bytes} bytes`);
  const perSecond = ({ elapsedMs }: ReadResult): number => (1000 * calls) / elapsedMs;
  return { aboveMiB, exported: perSecond(received), streamed: perSecond(await stream(calls)) };
}

interface Question {
  readonly calls: number;
  readonly question: object;
}

interface Manifest {
  readonly counts: { readonly exported: number };
  readonly bytes: number;
}

async function run(dir: string, { what, question, limitMiB, rate }: Export): Promise<ScenarioResult[]> {
  const key = generateKey().text;
  const measured = [];
  for (const calls of SIZES) {
    // a process for each, because memory that was used once stays with its process
    const service = await startProcess({ DATA_DIR: dir, ROOT_API_KEY: key });
    measured.push(await measure(service, key, { calls, question }));
    await service.end("SIGTERM");
  }
  const [small, all] = measured as [(typeof measured)[0], (typeof measured)[0]];
  const limit = { text: `≤ ${limitMiB} MB`, used: all.aboveMiB / limitMiB, required: true };
  return [
    {
      what: `${what}: ${large} calls exported`,
      subject: spreadOf([all.exported]),
      against: { what: "reading inputs and output of the same calls", spread: spreadOf([all.streamed]) },
      unit: "calls/s",
      target: { text: `≥ ${rate} ×`, used: (rate * all.streamed) / all.exported },
    },
    figure(
      `${what}: memory above that before, ${large} calls (a tenth of them: ${small.aboveMiB.toFixed(0)} MB)`,
      spreadOf([all.aboveMiB]),
      { unit: "MB", target: limit },
    ),
  ];
}

/** Exports of datasets: how fast they stream, and in how much memory. */
export const scenario: Scenario = {
  name: "datasets",
  async run() {
    const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
    try {
      await fill(dir);
      const results: ScenarioResult[] = [];
      for (const one of exports) results.push(...(await run(dir, one)));
      return results;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
