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

describe("an error in the file prevents the start; its line is reported", () => {
  const read = (text: string): readonly string[] => {
    const file = join(dir, "broken.json");
    writeFileSync(file, text);
    return readRoutesFile(file, {}, z.url()).problems;
  };
  it.each([
    ['[\n  {"api": "openai" "url": "http://x/v1"}\n]', "line 2: not JSON"],
    ["", "line 1: not JSON"],
    ["[]", "line 1: "],
    [
      '[\n {"api": "openai", "url": "http://x/v1"},\n {"api": "mistral",\n  "url": "http://x/v1"}\n]',
      "line 3: 1.api",
    ],
    ['[\n {"api": "openai",\n  "url": "nowhere"}\n]', "line 3: 0.url"],
    ['[\n {"api": "openai",\n  "url": "http://x/v1",\n  "api_key": "sk-secret"}\n]', "line 2: 0"],
    ['[\n {"api": "openai", "url": "http://x/v1",\n\n "paths": ["/messages"]}\n]', "line 4: 0.paths.0"],
    ['[{"api": "openai", "url": "http://x/v1",\n "api_key_env": "NO_SUCH"}]', "line 2: 0.api_key_env"],
    ["[\n// no\n]", "line 2: not JSON"],
  ])("%j", (text, problem) => {
    const problems = read(text);
    expect(problems[0]).toContain(problem);
    expect(problems.join("\n")).not.toContain("sk-secret");
  });

  it("is reported with the name of the setting", () => {
    const file = join(dir, "broken.json");
    writeFileSync(file, "{");
    expect(() => readConfig({ GATEWAY_ROUTES_FILE: file })).toThrow(/GATEWAY_ROUTES_FILE: line 1/);
    expect(() => readConfig({ GATEWAY_ROUTES_FILE: join(dir, "none") })).toThrow(/cannot be read \(ENOENT\)/);
  });
});
