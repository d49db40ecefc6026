import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readConfig } from "../../src/config.ts";
import { readRoutesFile } from "../../src/routes-file.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-routes-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe("an error in the file prevents the start; its entry is named", () => {
  it.each([
    ['[{"api": "openai" "url": "http://x/v1"}]', "not JSON"],
    ["", "not JSON"],
    ["[\n// no\n]", "not JSON"],
    ["[]", "Too small"],
    ['[{"api": "openai", "url": "http://x/v1"}, {"api": "mistral", "url": "http://x/v1"}]', "entry 1.api: "],
    ['[{"api": "openai", "url": "nowhere"}]', "entry 0.url: "],
    ['[{"api": "openai", "url": "http://x/v1", "api_key": "sk-secret"}]', "entry 0: "],
    ['[{"api": "openai", "url": "http://x/v1", "paths": ["/messages"]}]', "entry 0.paths.0: must begin"],
    [
      '[{"api": "openai", "url": "http://x/v1", "api_key_env": "NO"}]',
      "entry 0.api_key_env: the variable NO is",
    ],
  ])("%j", (text, problem) => {
    const file = join(dir, "broken.json");
    writeFileSync(file, text);
    const problems = readRoutesFile(file, {}, z.url()).problems.join("\n");
    expect(problems).toContain(problem);
    expect(problems).not.toContain("sk-secret");
  });

  it("is reported with the name of the setting", () => {
    const file = join(dir, "broken.json");
    writeFileSync(file, "{");
    expect(() => readConfig({ GATEWAY_ROUTES_FILE: file })).toThrow(
      /GATEWAY_ROUTES_FILE: the file is not JSON/,
    );
    expect(() => readConfig({ GATEWAY_ROUTES_FILE: join(dir, "none") })).toThrow(/cannot be read \(ENOENT\)/);
  });
});
