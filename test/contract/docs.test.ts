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

  it("links to files that are there", () => {
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

  it("names source files and commands that are there", () => {
    const files = [...text.matchAll(/`((?:src|test|bench|migrations|scripts)\/[\w./-]+\.(?:ts|sql))`/g)].map(
      (match) => match[1]!,
    );
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    const commands = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1]!);
    expect(commands.filter((command) => !(command in scripts))).toEqual([]);
  });
});
