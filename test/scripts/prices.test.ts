import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CHILD_ENVIRONMENT } from "../helpers/child-environment.ts";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "../../scripts/prices.ts");

async function prices(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  try {
    const { stdout, stderr } = await run(process.execPath, [SCRIPT, ...args], {
      env: { ...CHILD_ENVIRONMENT, ...environment },
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe("npm run prices", () => {
  it("prints the entry, its correction and the rates, and computes a bill", async () => {
    const usage = '{"input_tokens": 1000, "output_tokens": 100}';
    const { code, stdout } = await prices([
      "explain",
      "deepseek-chat",
      "--at",
      "2026-03-01",
      "--usage",
      usage,
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("deepseek-chat: deepseek/deepseek-chat of genai-prices");
    expect(stdout).toContain("Corrected here: ");
    expect(stdout).toContain("uncached_prompt_tokens       1000 × 0.28 per 1,000,000 = 0.00028");
    expect(stdout).toMatch(/total +0\.000322\n$/);
  });

  it("prints the names it tried for a model without an entry", async () => {
    expect((await prices(["explain", "openai/none-2026-01-01"])).stdout).toBe(
      "openai/none-2026-01-01: no entry. Its costs are null.\n" +
        "Tried: openai/none-2026-01-01, none-2026-01-01 at openai, none-2026-01-01, " +
        "openai/none, none at openai, none\n",
    );
  });

  it.each([
    [["explain", "gpt-4o", "--at", "soon"], "--at: an instant"],
    [["explain", "gpt-4o", "--usage", "{"], "--usage: JSON"],
    [["explain", "gpt-4o", "--usage", "{}"], "--usage: has no count above 0"],
    [["explain", "gpt-4o", "--bogus"], "Unknown option '--bogus'"],
  ])("rejects %j with a reason", async (args, message) => {
    const { code, stderr } = await prices(args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });

  it("rejects a missing PRICES_FILE", async () => {
    const { code, stderr } = await prices(["explain", "gpt-4o"], { PRICES_FILE: "/does/not/exist.json" });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "PRICES_FILE: cannot be read (ENOENT).\n" });
  });
});
