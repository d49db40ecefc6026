import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { CHILD_ENVIRONMENT } from "../helpers/child-environment.ts";
import { runs } from "../helpers/runs.ts";
import { spawnProcess, startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-backup-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const run = promisify(execFile);
const project_id = "acme/kept";

async function script(name: string, args: readonly string[], dataDir: string) {
  const file = join(import.meta.dirname, `../../scripts/${name}.ts`);
  const environment = { ...CHILD_ENVIRONMENT, DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY };
  try {
    const { stdout, stderr } = await run(process.execPath, [file, ...args], { env: environment });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

/** Returns the log of a service until it listens. */
async function logOfStart(dataDir: string): Promise<string> {
  const child = spawnProcess({ DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY });
  let said = "";
  child.stdout.on("data", (text: Buffer) => (said += text.toString()));
  await until(() => said.includes("Server listening"));
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
  return said;
}

const start = (dataDir: string) => startProcess({ DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY });

/** Sends calls until it is told to stop; `acknowledged` grows. */
function keepWriting(service: ServiceProcess) {
  const acknowledged: string[] = [];
  const stopped = new AbortController();
  const writer = async (w: number): Promise<void> => {
    for (let n = 0; !stopped.signal.aborted; n++) {
      const batch = Array.from({ length: 20 }, (_, i) => ({
        project_id,
        id: `c-${w}-${n}-${i}`,
        trace_id: `t-${w}-${n}`,
        parent_id: i === 0 ? null : `c-${w}-${n}-0`,
        op_name: "op",
        started_at: "2026-01-01T00:00:00Z",
        ended_at: "2026-01-01T00:00:01Z",
        inputs: { text: "x".repeat(200) },
        attributes: {},
        summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 10, completion_tokens: 1 } } },
      }));
      const response = await service
        .post(`/v2/${project_id}/calls/complete`, { batch })
        .catch(() => undefined);
      if (response?.status === 200) acknowledged.push(...batch.map((call) => call.id));
    }
  };
  const writers = [0, 1, 2, 3].map(writer);
  return {
    acknowledged,
    async stop() {
      stopped.abort();
      await Promise.all(writers);
    },
  };
}

/** Everything below a path, in one text. */
function contentOf(path: string): string {
  if (!statSync(path).isDirectory()) return createHash("sha256").update(readFileSync(path)).digest("hex");
  const names = readdirSync(path).toSorted();
  return names.map((name) => `${name}: ${contentOf(join(path, name))}`).join("\n");
}

function newest(backups: string, kept: ReadonlyMap<string, string>): string[] {
  return readdirSync(backups).filter((name) => !kept.has(name));
}

async function callIds(service: ServiceProcess): Promise<string[]> {
  const text = await (await service.post("/calls/stream_query", { project_id, columns: ["id"] })).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { id: string }).id);
}

describe("a backup of the embedded store", () => {
  const dataDir = join(dir, "data");
  let backup: string;
  let before: readonly string[];
  let keyId: string;

  it("is created under load, and contains everything acknowledged before it began", async () => {
    const service = await start(dataDir);
    const created = await service.post("/api-keys", {
      name: "later revoked",
      scopes: ["read"],
      projects: ["*"],
    });
    keyId = ((await created.json()) as { id: string }).id;
    const load = keepWriting(service);
    await until(() => load.acknowledged.length > 500);
    before = [...load.acknowledged];
    const made = await script("backup", [], dataDir);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\/.*\/sumtree-\d{8}T\d{6}Z\n$/) });
    backup = made.stdout.trim();
    expect(load.acknowledged.length).toBeGreaterThan(before.length);
    const gone = service.end("SIGKILL");
    await load.stop();
    await gone;
    rmSync(join(dataDir, "store"), { recursive: true });
  });

  it("is readable only for its user", () => {
    for (const name of readdirSync(backup, { recursive: true, encoding: "utf8" }))
      expect(statSync(join(backup, name)).mode & 0o077).toBe(0);
  });

  it("is restored into an empty directory: each call once, with the totals of its trace", async () => {
    const restored = join(dir, "restored");
    expect(await script("restore", [backup], restored)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^Restored \\d+ rows into [^]*valid again[^]*  ${keyId}  later revoked: read, \\*\n$`),
      ),
    });
    const warning = JSON.stringify({ id: keyId, name: "later revoked" });
    const said = [await logOfStart(restored), await logOfStart(restored)];
    expect(said.map((log) => log.includes(warning))).toEqual([true, false]);
    const service = await start(restored);
    const ids = await callIds(service);
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.filter((id) => !new Set(ids).has(id))).toEqual([]);
    const roots = before.filter((id) => id.endsWith("-0"));
    const response = await service.post("/trace/usage", {
      project_id,
      filter: { call_ids: roots.slice(0, 100) },
    });
    const { call_usage } = (await response.json()) as { call_usage: Record<string, object> };
    for (const usage of Object.values(call_usage))
      expect(usage).toMatchObject({ "gpt-4o": { requests: 20, prompt_tokens: 200, completion_tokens: 20 } });
    const headers = { authorization: authorization(ROOT_KEY, "bearer") };
    const audit = await fetch(`${service.url}/audit?limit=2`, { headers });
    const { entries } = (await audit.json()) as { entries: { action: string; outcome: string }[] };
    // the copy was made while its own entry was open
    expect(entries.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      "backup.restore done",
      "backup.create unknown",
    ]);
    expect(await service.end("SIGTERM")).toBe(0);
  });

  it("can be created while the service is stopped", async () => {
    const made = await script("backup", [], join(dir, "restored"));
    expect(made.code).toBe(0);
    expect(existsSync(join(made.stdout.trim(), ".backup"))).toBe(true);
  });

  it("is not restored over a store, nor from an invalid file, and an interrupted restore is reported", async () => {
    expect(await script("restore", [backup], join(dir, "restored"))).toMatchObject({
      code: 1,
      stderr: `DATA_DIR ${join(dir, "restored")} holds a store. Move it away, or set another DATA_DIR.\n`,
    });
    expect(await script("restore", [dir], join(dir, "other"))).toMatchObject({
      code: 1,
      stderr: `${dir} is no backup: it has no file .backup.\n`,
    });
    expect((await script("restore", [], join(dir, "other"))).code).toBe(2);
    const cut = join(dir, "cut");
    mkdirSync(cut);
    writeFileSync(join(cut, "half-restored"), "");
    await expect(start(cut)).rejects.toThrow("contains an incomplete restore.");
  });

  it("leaves no files if it cannot be restored", async () => {
    const damaged = join(dir, "damaged");
    mkdirSync(damaged);
    writeFileSync(join(damaged, ".backup"), "<config/>");
    const target = join(dir, "target");
    expect((await script("restore", [damaged], target)).code).toBe(1);
    expect(readdirSync(target)).toEqual([]);
  });

  it("requires a key of all projects", async () => {
    const service = await start(join(dir, "restored"));
    const made = await service.post("/api-keys", { name: "x", scopes: ["admin"], projects: ["acme/*"] });
    const { key } = (await made.json()) as { key: string };
    const rejected = await fetch(`${service.url}/backups`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
    });
    expect(rejected.status).toBe(403);
    await service.end("SIGTERM");
  });

  it("is not changed by a kill during the next one, whose remains are no backup", async () => {
    const data = join(dir, "restored");
    const backups = join(data, "backups");
    const kept = new Map<string, string>();
    for (const name of readdirSync(backups)) kept.set(name, contentOf(join(backups, name)));
    for (let kill = 0; kill < runs(1, 3); kill++) {
      const service = await start(data);
      const made = (await (await service.post("/backups", undefined)).json()) as { name: string };
      expect(kept.has(made.name)).toBe(false);
      kept.set(made.name, contentOf(join(backups, made.name)));
      const cut = service.post("/backups", undefined).catch(() => undefined);
      await until(() => newest(backups, kept).some((name) => readdirSync(join(backups, name)).length > kill));
      await service.end("SIGKILL");
      await cut;
      for (const name of newest(backups, kept)) {
        kept.set(name, contentOf(join(backups, name)));
        if (existsSync(join(backups, name, ".backup"))) continue;
        const rejected = await script("restore", [join(backups, name)], join(dir, "other"));
        expect(rejected.stderr).toContain("is no backup: it has no file .backup.");
      }
    }
    const made = await script("backup", [], data);
    expect([made.code, kept.has(basename(made.stdout.trim()))]).toEqual([0, false]);
    for (const [name, content] of kept)
      expect([name, contentOf(join(backups, name))]).toEqual([name, content]);
  });
});
