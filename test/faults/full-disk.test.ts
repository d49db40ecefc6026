import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
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

/** Without a reserve: the engine itself finds no space. */
const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY, MIN_FREE_DISK_BYTES: "0" };
const project_id = "acme/full";
const acknowledged: string[] = [];

async function writeBatch(service: ServiceProcess, project = project_id, key = ROOT_KEY): Promise<Response> {
  const batch = Array.from({ length: 50 }, () => ({
    id: randomBytes(8).toString("hex"),
    trace_id: "t",
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    inputs: { noise: randomBytes(3000).toString("base64") },
  }));
  const answer = await fetch(`${service.url}/v2/${project}/calls/complete`, {
    method: "POST",
    headers: { authorization: authorization(key), "content-type": "application/json" },
    body: JSON.stringify({ batch }),
  });
  if (answer.ok) acknowledged.push(...batch.map((call) => call.id));
  return answer;
}

/** The first answer that is not a 200. */
async function fill(service: ServiceProcess, project?: string, key?: string): Promise<Response> {
  for (;;) {
    const answer = await writeBatch(service, project, key);
    if (!answer.ok) return answer;
  }
}

async function lost(service: ServiceProcess, project = project_id): Promise<string[]> {
  const answer = await service.post("/trace/usage", { project_id: project, limit: 1_000_000 });
  expect(answer.status).toBe(200);
  const { call_usage } = (await answer.json()) as { call_usage: Record<string, unknown> };
  return acknowledged.filter((id) => call_usage[id] === undefined);
}

describe("a full disk", () => {
  it.skipIf(!mounted)("returns 503 to writers, and prevents no reads, start or graceful stop", async () => {
    const before = await startProcess(settings);
    for (let again = 0; again < 3; again++) {
      const answer = await fill(before);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await answer.json()).toEqual({ detail: "Store read-only: its disk is full." });
    }
    expect(acknowledged.length).toBeGreaterThan(500);
    expect(await lost(before)).toEqual([]);
    await before.end("SIGKILL");
    const service = await startProcess(settings);
    expect(await lost(service)).toEqual([]);
    expect((await fill(service)).status).toBe(503);
    expect(mount("-o", "remount,size=40m", dir)).toBe(true);
    expect((await writeBatch(service)).status).toBe(200);
    expect(await lost(service)).toEqual([]);
    expect(await service.end("SIGTERM")).toBe(0);
  });

  it.skipIf(!mounted)(
    "delays no completion: reports those that a kill would lose, and records them once there is space",
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

describe("a disk with a reserve", () => {
  const MIB = 1024 * 1024;
  const RESERVE = 128 * MIB;
  const project = "acme/filler";
  const reserving = { ...settings, MIN_FREE_DISK_BYTES: String(RESERVE) };
  const remake = (): void => {
    execFileSync("umount", ["--lazy", dir]);
    expect(mount("-t", "tmpfs", "-o", "size=320m", "tmpfs", dir)).toBe(true);
    acknowledged.length = 0;
  };
  const ask = (service: ServiceProcess, method: string, path: string, body?: object) =>
    fetch(service.url + path, {
      method,
      headers: { authorization: authorization(), "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const makeKey = async (service: ServiceProcess, scope: string): Promise<{ id: string; key: string }> => {
    const answer = await ask(service, "POST", "/api-keys", {
      name: "k",
      projects: [project],
      scopes: [scope],
    });
    expect(answer.status).toBe(201);
    return (await answer.json()) as { id: string; key: string };
  };
  const revoke = async (service: ServiceProcess, { id, key }: { id: string; key: string }): Promise<void> => {
    expect((await ask(service, "DELETE", `/api-keys/${id}`)).status).toBe(204);
    expect((await writeBatch(service, project, key)).status).toBe(401);
  };
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  };
  const fillTogether = async (service: ServiceProcess, key: string): Promise<void> => {
    const refusals = await Promise.all(Array.from({ length: 4 }, () => fill(service, project, key)));
    for (const refusal of refusals) {
      expect(refusal.status).toBe(507);
      expect(JSON.stringify(await refusal.json())).toContain("disk is almost full");
    }
  };

  it.skipIf(!mounted)(
    "is not filled by writes or by the gateway, whose completions wait, and can be emptied, also after a kill",
    async () => {
      remake();
      const upstream = await startReferenceUpstream();
      const own = { ...reserving, TRAINING_UPSTREAM_URL: upstream.url };
      const first = await startProcess(own);
      const filler = await makeKey(first, "ingest");
      const trainer = await makeKey(first, "train");
      await fillTogether(first, filler.key);
      await until(async () => (await fetch(`${first.url}/readyz/writes`)).status === 503);
      expect((await fetch(`${first.url}/readyz/reads`)).status).toBe(200);
      const headers = {
        authorization: authorization(trainer.key, "bearer"),
        "content-type": "application/json",
      };
      const content = randomBytes(300_000).toString("base64");
      const body = JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
      for (let n = 0; n < 30; n++) {
        const answer = await fetch(`${first.url}/v1/chat/completions`, { method: "POST", headers, body });
        expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
      }
      const recorded = async (service: ServiceProcess): Promise<number> => {
        const answer = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
        return Number(/^sumtree_gateway_completions_recorded_total (\d+)$/m.exec(await answer.text())![1]);
      };
      expect(await recorded(first)).toBe(0);
      for (const key of [filler, trainer]) await revoke(first, key);
      expect(await lost(first, project)).toEqual([]);
      const other = await makeKey(first, "ingest");
      await first.end("SIGKILL");

      const service = await startProcess(own);
      await fillTogether(service, other.key);
      expect(await lost(service, project)).toEqual([]);
      await revoke(service, other);
      expect((await ask(service, "DELETE", `/projects/${project}`)).status).toBe(202);
      acknowledged.length = 0;
      await until(async () => (await writeBatch(service)).status === 200);
      await until(async () => (await recorded(service)) === 30);
      expect((await fetch(`${service.url}/readyz/writes`)).status).toBe(200);
      await until(() => freeBytes() > 1.5 * RESERVE);
      expect(await lost(service)).toEqual([]);
      expect(await service.end("SIGTERM")).toBe(0);
      await upstream.close();
    },
  );

  it("creates no part that it had no space to rewrite", async () => {
    const data = mkdtempSync(join(tmpdir(), "sumtree-parts-"));
    const service = await startProcess({
      ...settings,
      DATA_DIR: data,
      MIN_FREE_DISK_BYTES: String(4 * MIB),
    });
    for (let n = 0; n < 40; n++) expect((await writeBatch(service)).status).toBe(200);
    // until its merges are done
    await delay(2000);
    expect(await service.end("SIGTERM")).toBe(0);
    const files = readdirSync(join(data, "store"), { recursive: true, encoding: "utf8" });
    const sizes = files
      .filter((path) => path.endsWith("data.bin"))
      .map((path) => statSync(join(data, "store", path)).size);
    expect(Math.max(...sizes)).toBeLessThan(0.45 * 4 * MIB);
    rmSync(data, { recursive: true });
  });
});
