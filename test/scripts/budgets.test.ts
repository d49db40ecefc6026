import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runScript } from "../helpers/run-script.ts";
import { startProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const dataDir = mkdtempSync(join(tmpdir(), "sumtree-budgets-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const budgets = (...args: readonly string[]) =>
  runScript("budgets.ts", args, { DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY });

describe("npm run budgets", () => {
  it("creates, lists, changes and deletes budgets of the service that runs", async () => {
    const service = await startProcess({ DATA_DIR: dataDir, ROOT_API_KEY: ROOT_KEY });
    const project = ["--project", "acme/a"];
    try {
      const made = await budgets(
        "create",
        ...project,
        "--usd",
        "12.5",
        "--window",
        "month",
        "--name",
        "team",
      );
      expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
      const id = made.stdout.trim();
      const changed = await budgets("update", id, ...project, "--requests", "7", "--window", "ever");
      expect(changed).toMatchObject({ code: 0 });
      const listed = (await budgets("list", ...project)).stdout;
      for (const text of [id, "team", "project", "0 + 0 of 7", "ever"]) expect(listed).toContain(text);
      expect(listed).not.toContain("12.5");
      expect((await budgets("delete", id, ...project)).code).toBe(0);
      expect(await budgets("delete", id, ...project)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("No such budget"),
      });
    } finally {
      await service.end("SIGTERM");
    }
  });

  it("tells how it is used, and what is wrong", async () => {
    expect(await budgets("create", "--usd", "1")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Manage the budgets"),
    });
    expect(await budgets("create", "--project", "acme/a", "--usd", "much")).toMatchObject({
      code: 1,
      stderr: "--usd must be a number.\n",
    });
  });
});
