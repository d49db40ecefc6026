import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { VERSION } from "../../src/version.ts";
import { spawnProcess, startProcess } from "../helpers/service-process.ts";
import { until } from "../helpers/until.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-start-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("the first start", () => {
  const fresh = join(dir, "first");
  const modesIn = (path: string): number[] =>
    readdirSync(path, { recursive: true, encoding: "utf8" }).map(
      (name) => statSync(join(path, name)).mode & 0o077,
    );

  it("shows the admin key once, and not in the log", async () => {
    const lines: string[] = [];
    const errors: string[] = [];
    for (let start = 0; start < 2; start++) {
      const service = await startProcess({ DATA_DIR: fresh });
      service.child.stdout.on("data", (text: Buffer) => lines.push(text.toString()));
      service.child.stderr.on("data", (text: Buffer) => errors.push(text.toString()));
      if (start === 0) await until(() => errors.join("").includes("st_"));
      await service.end("SIGTERM");
    }
    const key = readFileSync(join(fresh, "root-api-key"), "utf8").trim();
    expect(lines.join("")).not.toContain(key);
    expect(errors.join("").split(key)).toHaveLength(2);
  });

  it("creates files that only its user can read", () => {
    expect([statSync(fresh).mode & 0o077, ...new Set(modesIn(fresh))]).toEqual([0, 0]);
  });

  it("logs its version, and possibly misspelt settings", async () => {
    const child = spawnProcess({ DATA_DIR: fresh, CLICKHOSE_URL: "http://secret-host" });
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (line.includes("Server listening")) child.kill("SIGTERM");
    }
    expect(JSON.parse(said[0]!)).toMatchObject({ msg: "starting", version: VERSION, node: process.version });
    expect(JSON.parse(said[1]!)).toMatchObject({
      level: 40,
      variable: "CLICKHOSE_URL",
      nearest: "CLICKHOUSE_URL",
    });
    expect(said.join("")).not.toContain("secret-host");
  });
});
