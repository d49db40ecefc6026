import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runScript } from "../helpers/run-script.ts";
import { startProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";

const dataDir = mkdtempSync(join(tmpdir(), "sumtree-keys-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const keys = (args: string, environment: Readonly<Record<string, string>> = {}) =>
  runScript("keys.ts", args.split(" "), { DATA_DIR: dataDir, ...environment });

const KEY = /^st_[0-9a-z]{12}_[\w-]{43}\n$/;

describe("npm run keys", () => {
  it("creates nothing if there is nothing to list or to revoke", async () => {
    const none = join(dataDir, "none");
    expect(await keys("list", { DATA_DIR: none })).toMatchObject({
      code: 1,
      stderr: `There is no store in ${none} yet. Start the service first, or set DATA_DIR to its directory.\n`,
    });
    expect(existsSync(none)).toBe(false);
  });

  it("opens the store itself, or uses the service that has it, on any port", async () => {
    const first = await keys("create --name ci --scope read --scope ingest --project acme/*");
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(KEY) });
    // the first start makes it, and shows it
    expect(existsSync(join(dataDir, "root-api-key"))).toBe(false);

    const service = await startProcess({ DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY });
    const live = (args: string) => keys(args, { ROOT_API_KEY: ROOT_KEY });
    const status = async (key: string): Promise<number> =>
      (await fetch(`${service.url}/me`, { headers: { authorization: `Bearer ${key.trim()}` } })).status;
    try {
      const second = await live("create --name live --scope read --project acme/a");
      expect([await status(first.stdout), await status(second.stdout)]).toEqual([200, 200]);
      const listed = (await live("list")).stdout;
      for (const { stdout } of [first, second]) {
        expect(listed).toContain(stdout.slice(3, 15));
        expect(listed).not.toContain(stdout.trim());
      }
      expect(listed).toContain("read ingest");
      const id = first.stdout.slice(3, 15);
      expect((await live(`revoke ${id}`)).code).toBe(0);
      expect(await status(first.stdout)).toBe(401);
      expect(await live(`revoke ${id}`)).toMatchObject({ code: 1, stderr: "No such key.\n" });
      const audit = await fetch(`${service.url}/audit`, { headers: { authorization: authorization() } });
      const { entries } = (await audit.json()) as { entries: Record<string, string>[] };
      expect(entries.map(({ action, outcome, key_id }) => [action, outcome, key_id]).reverse()).toEqual([
        ["key.create", "done", "root"],
        ["key.create", "done", "root"],
        ["key.revoke", "done", "root"],
        ["key.revoke", "refused", "root"],
      ]);
    } finally {
      await service.end("SIGTERM");
    }
  });

  it.each([
    ["create --name x --scope everything", 1, /scopes\.0: .*\nprojects: Field required\n/],
    ["list --projet x", 2, /^Unknown option '--projet'\.\n\nManage API keys\./],
    ["list --url http://127.0.0.1:1", 1, /^No service answers at http:\/\/127\.0\.0\.1:1\. Give the address/],
  ])("reports invalid arguments: %s", async (args, code, stderr) => {
    expect(await keys(args, { ROOT_API_KEY: ROOT_KEY })).toMatchObject({
      code,
      stderr: expect.stringMatching(stderr),
    });
  });
});
