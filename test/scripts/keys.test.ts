import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { CHILD_ENVIRONMENT } from "../helpers/child-environment.ts";
import { startProcess } from "../helpers/service-process.ts";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "../../scripts/keys.ts");
const dataDir = mkdtempSync(join(tmpdir(), "sumtree-keys-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function keys(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  try {
    const { stdout, stderr } = await run(process.execPath, [SCRIPT, ...args], {
      env: { ...CHILD_ENVIRONMENT, DATA_DIR: dataDir, ...environment },
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe("npm run keys", () => {
  it("creates nothing if there is nothing to list or to revoke", async () => {
    const none = join(dataDir, "none");
    expect(await keys(["list"], { DATA_DIR: none })).toMatchObject({
      code: 1,
      stderr: `There is no store in ${none} yet. Start the service first, or set DATA_DIR to its directory.\n`,
    });
    expect(existsSync(none)).toBe(false);
  });

  it("creates, lists and revokes keys without a running service", async () => {
    const made = await keys([
      "create",
      "--name",
      "ci",
      "--scope",
      "read",
      "--scope",
      "ingest",
      "--project",
      "acme/*",
    ]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^st_[0-9a-z]{12}_[\w-]{43}\n$/) });
    const id = made.stdout.slice(3, 15);
    // the first start makes it, and shows it
    expect(existsSync(join(dataDir, "root-api-key"))).toBe(false);
    const listed = await keys(["list"]);
    expect(listed.stdout).toContain(id);
    expect(listed.stdout).toContain("read ingest");
    expect(listed.stdout).not.toContain(made.stdout.trim());
    expect((await keys(["revoke", id])).code).toBe(0);
    expect(await keys(["revoke", id])).toMatchObject({ code: 1, stderr: "No such key.\n" });
  });

  it("uses the running service if it has the data directory, on any port", async () => {
    const service = await startProcess({ DATA_DIR: dataDir });
    try {
      const made = await keys(["create", "--name", "live", "--scope", "read", "--project", "acme/a"]);
      const response = await fetch(`${service.url}/trace/usage`, {
        method: "POST",
        headers: { authorization: `Bearer ${made.stdout.trim()}`, "content-type": "application/json" },
        body: JSON.stringify({ project_id: "acme/a" }),
      });
      expect(response.status).toBe(200);
      // both of the service and of the commands before, which had none
      const root = readFileSync(join(dataDir, "root-api-key"), "utf8").trim();
      const audit = await fetch(`${service.url}/audit`, { headers: { authorization: `Bearer ${root}` } });
      const { entries } = (await audit.json()) as {
        entries: { action: string; outcome: string; key_id: string }[];
      };
      expect(entries.map(({ action, outcome, key_id }) => [action, outcome, key_id]).reverse()).toEqual([
        ["key.create", "done", "root"],
        ["key.revoke", "done", "root"],
        ["key.revoke", "refused", "root"],
        ["key.create", "done", "root"],
      ]);
    } finally {
      await service.end("SIGTERM");
    }
  });

  it("reports invalid arguments", async () => {
    expect(await keys(["create", "--name", "x", "--scope", "everything"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/scopes\.0: .*\nprojects: Field required\n/),
    });
    expect((await keys(["toString"])).code).toBe(2);
    expect(await keys(["list", "--projet", "x"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Unknown option '--projet'\.\n\nManage API keys\./),
    });
    expect(await keys(["list", "--url", "http://127.0.0.1:1"])).toMatchObject({
      code: 1,
      stderr: "No service answers at http://127.0.0.1:1. Give the address of yours with --url.\n",
    });
  });
});
