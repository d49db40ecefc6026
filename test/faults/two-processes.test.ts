import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startProcess } from "../helpers/service-process.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-two-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };

describe("a second process on one data directory", () => {
  it("says that the directory is in use and ends; the first one works on", async () => {
    const first = await startProcess(settings);
    const project_id = "acme/two";
    for (let n = 0; n < 3; n++) {
      await expect(startProcess(settings)).rejects.toThrow(/already|in use/i);
      const start = {
        project_id,
        id: `c${n}`,
        trace_id: "t",
        op_name: "op",
        started_at: "2026-01-01T00:00:00Z",
      };
      expect((await first.post("/call/start", { start })).status).toBe(200);
    }
    expect(await first.end("SIGKILL")).toBeNull();

    const second = await startProcess(settings);
    const usage = (await (await second.post("/trace/usage", { project_id })).json()) as {
      call_usage: object;
    };
    expect(Object.keys(usage.call_usage).toSorted()).toEqual(["c0", "c1", "c2"]);
    expect(await second.end("SIGTERM")).toBe(0);
  });
});
