import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", ...glob("docs")];
const scripts = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object }).scripts;

function glob(folder: string): string[] {
  const listed = execFileSync("find", [folder, "-name", "*.md"], { cwd: ROOT, encoding: "utf8" });
  return listed.trim().split("\n");
}

describe.each(pages)("%s", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");

  it("links to existing files", () => {
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
    const missing = links.filter(
      // an action's page and badge belong to the repository, wherever it is
      (link) => !/^https?:|^\.\.\/\.\.\/actions\//.test(link) && !existsSync(join(ROOT, dirname(page), link)),
    );
    expect(missing).toEqual([]);
  });

  it("has lines of at most 160 characters", () => {
    const prose = text.replaceAll(/^ *```[^]*?^ *```$/gm, "");
    const long = prose.split("\n").filter((line) => line.length > 160 && !line.trimStart().startsWith("|"));
    expect(long).toEqual([]);
  });

  it("names existing source files and commands", () => {
    const files = [...text.matchAll(/`((?:src|test|bench|migrations|scripts)\/[\w./-]+\.(?:ts|sql))`/g)].map(
      (match) => match[1]!,
    );
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    const commands = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1]!);
    expect(commands.filter((command) => !(command in scripts))).toEqual([]);
  });
});

describe("docs/architecture.md", () => {
  const passes = readFileSync(join(ROOT, "docs/architecture.md"), "utf8")
    .split(/^### /m)
    .slice(1)
    .map((pass) => [pass.split("\n", 1)[0]!, pass.split("\n").filter((line) => line !== "")] as const);

  it.each(passes)("describes %s in at most ten steps, with existing files", (_, lines) => {
    expect(lines.filter((line) => /^\d+\. /.test(line)).length).toBeLessThanOrEqual(10);
    const named = [...lines.join("\n").matchAll(/`([a-z][\w-]*(?:\/[\w-]+)+|[\w-]+\.tsx?)`/g)].map(
      (match) => match[1]!,
    );
    expect(named.length).toBeGreaterThan(5);
    const places = (name: string): string[] =>
      ["src", "web"].flatMap((folder) =>
        ["", ".ts", ".tsx"].map((ending) => join(ROOT, folder, name + ending)),
      );
    expect(named.filter((name) => !places(name).some((place) => existsSync(place)))).toEqual([]);
  });
});
