import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { CHILD_ENVIRONMENT } from "../helpers/child-environment.ts";

const ROOT = join(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "sumtree-npm-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("npm start", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("stops gracefully if npm receives %s", async (signal) => {
    const npm = spawn("npm", ["start"], {
      cwd: ROOT,
      env: { ...CHILD_ENVIRONMENT, HOME: dir, DATA_DIR: dir, PORT: "0" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const said: string[] = [];
    let service = 0;
    for await (const line of createInterface({ input: npm.stdout })) {
      said.push(line);
      if (!line.includes("Server listening")) continue;
      service = (JSON.parse(line) as { pid: number }).pid;
      npm.kill(signal);
    }
    if (npm.exitCode === null && npm.signalCode === null) await once(npm, "exit");
    expect(said.at(-1)).toContain(`"signal":"${signal}"`);
    expect(() => process.kill(service, 0)).toThrow("ESRCH");
  });
});
