import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { startReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { until } from "../helpers/until.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-full-"));
/** A file system of its own needs the right to mount one. */
const mounted = mount("-t", "tmpfs", "-o", "size=24m", "tmpfs", dir);
afterAll(() => {
  if (mounted) execFileSync("umount", ["--lazy", dir]);
  rmSync(dir, { recursive: true, force: true });
});

function mount(...options: string[]): boolean {
  try {
    execFileSync("mount", options, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };
const project_id = "acme/full";
const acknowledged: string[] = [];

async function writeBatch(service: ServiceProcess): Promise<Response> {
  const batch = Array.from({ length: 50 }, () => ({
    id: randomBytes(8).toString("hex"),
    trace_id: "t",
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    inputs: { noise: randomBytes(3000).toString("base64") },
  }));
  const answer = await service.post(`/v2/${project_id}/calls/complete`, { batch });
  if (answer.ok) acknowledged.push(...batch.map((call) => call.id));
  return answer;
}

/** The first answer that is not a 200. */
async function fill(service: ServiceProcess): Promise<Response> {
  for (;;) {
    const answer = await writeBatch(service);
    if (!answer.ok) return answer;
  }
}

async function lost(service: ServiceProcess): Promise<string[]> {
  const answer = await service.post("/trace/usage", { project_id, limit: 1_000_000 });
  expect(answer.status).toBe(200);
  const { call_usage } = (await answer.json()) as { call_usage: Record<string, unknown> };
  return acknowledged.filter((id) => call_usage[id] === undefined);
}

describe("a full disk", () => {
  it.skipIf(!mounted)("is a 503 for those who write, and nothing to those who read", async () => {
    const service = await startProcess(settings);
    for (let again = 0; again < 5; again++) {
      const answer = await fill(service);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("5");
      expect(await answer.json()).toEqual({
        detail: "The store's disk is full: it can be read, not written to.",
      });
    }
    expect(acknowledged.length).toBeGreaterThan(500);
    expect(await lost(service)).toEqual([]);

    expect(mount("-o", "remount,size=40m", dir)).toBe(true);
    expect((await writeBatch(service)).status).toBe(200);
    expect(await lost(service)).toEqual([]);
    await service.end("SIGKILL");
  });

  it.skipIf(!mounted)("keeps nobody from starting, reading, and ending in good order", async () => {
    const before = await startProcess(settings);
    await fill(before);
    await before.end("SIGKILL");
    const service = await startProcess(settings);
    expect(await lost(service)).toEqual([]);
    expect((await fill(service)).status).toBe(503);
    expect(await service.end("SIGTERM")).toBe(0);
  });

  it.skipIf(!mounted)(
    "delays no completion: it says which of them a kill would lose, and records them when there is room",
    async () => {
      const upstream = await startReferenceUpstream();
      const service = await startProcess({ ...settings, TRAINING_UPSTREAM_URL: upstream.url });
      const headers = { authorization: authorization(ROOT_KEY, "bearer"), "openai-project": "acme/relayed" };
      const body = JSON.stringify({
        model: "m",
        messages: [{ role: "user", content: "word ".repeat(20_000) }],
      });
      const metric = async (name: string): Promise<number> => {
        const answer = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
        const text = await answer.text();
        return Number(new RegExp(`^sumtree_gateway_completions_${name} (\\d+)$`, "m").exec(text)![1]);
      };
      await fill(service);
      for (let n = 0; n < 60; n++) {
        const answer = await fetch(`${service.url}/v1/chat/completions`, { method: "POST", headers, body });
        expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
      }
      expect(await metric("unjournaled_total")).toBeGreaterThan(0);
      expect(mount("-o", "remount,size=120m", dir)).toBe(true);
      await until(async () => (await metric("pending")) === 0);
      expect([await metric("recorded_total"), await metric("dropped_total")]).toEqual([60, 0]);
      expect(await service.end("SIGTERM")).toBe(0);
      await upstream.close();
    },
  );
});
