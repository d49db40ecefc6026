import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { until } from "../helpers/until.ts";

const KILLS = Number(process.env["KILLS"] ?? 6);
const WRITERS = 8;

const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };
const project_id = "acme/kill";

/** What the service has acknowledged: starts, and ends, of calls that no other writer sends. */
const startedIds = new Set<string>();
const endedIds = new Set<string>();

async function acknowledged(service: ServiceProcess, path: string, body: unknown): Promise<boolean> {
  try {
    const response = await service.post(path, body);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Sends starts and ends, an end sometimes first, until the service is gone. */
async function write(service: ServiceProcess, writer: string): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `${writer}-${n}`;
    const start = {
      project_id,
      id,
      trace_id: writer,
      op_name: "op",
      started_at: "2026-01-01T00:00:00Z",
      inputs: { text: "x".repeat(500) },
      attributes: {},
    };
    const end = {
      project_id,
      id,
      ended_at: "2026-01-01T00:00:01Z",
      output: "y",
      summary: { usage: { m: { requests: 1 } } },
    };
    const steps: (() => Promise<boolean>)[] = [
      async () => (await acknowledged(service, "/call/start", { start })) && Boolean(startedIds.add(id)),
      async () => (await acknowledged(service, "/call/end", { end })) && Boolean(endedIds.add(id)),
    ];
    if (n % 3 === 0) steps.reverse();
    if (n % 3 === 1) {
      const batch = [
        { mode: "start", req: { start } },
        { mode: "end", req: { end } },
      ];
      if (!(await acknowledged(service, "/call/upsert_batch", { batch }))) return;
      startedIds.add(id);
      endedIds.add(id);
      continue;
    }
    for (const step of steps) if (!(await step())) return;
  }
}

describe("kill -9 in the middle of ingest", () => {
  it(`keeps every acknowledged call, each once, over ${KILLS} kills`, { timeout: 300_000 }, async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const service = await startProcess(settings);
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(service, `k${kill}w${writer}`));
      const enough = endedIds.size + 5 + Math.random() * 100;
      await until(() => endedIds.size > enough, 30_000);
      await delay(Math.random() * 60);
      await service.end("SIGKILL");
      await Promise.all(writers);
    }

    const service = await startProcess(settings);
    const answer = (await (await service.post("/trace/usage", { project_id, limit: 1_000_000 })).json()) as {
      call_usage: Record<string, Record<string, { requests: number }>>;
      unfinished_call_ids: string[];
    };
    const unfinished = new Set(answer.unfinished_call_ids);
    const lostStarts = [...startedIds].filter((id) => answer.call_usage[id] === undefined);
    const lostEnds = [...endedIds].filter(
      (id) => startedIds.has(id) && (unfinished.has(id) || answer.call_usage[id]?.["m"]?.requests !== 1),
    );
    expect({ lostStarts, lostEnds }).toEqual({ lostStarts: [], lostEnds: [] });
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
