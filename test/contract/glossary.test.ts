import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/glossary.md"), "utf8");
const terms = [...page.matchAll(/^\| \*\*(.+?)\*\* \|/gm)].map(([, term]) => term!);
const pages = execFileSync("git", ["ls-files", "docs", "src"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(md|ts)$/.test(file) && file !== "docs/glossary.md")
  .map((file) => readFileSync(join(ROOT, file), "utf8").toLowerCase());

describe("the glossary", () => {
  it("has at most forty terms, each of them once", () => {
    expect(terms.length).toBeGreaterThan(30);
    expect(terms.length).toBeLessThanOrEqual(40);
    expect(new Set(terms).size).toBe(terms.length);
  });

  it.each(terms)("explains %s, which code or docs use", (term) => {
    // a name in code is the term without its spaces
    const spellings = [term, term.replaceAll(" ", "")];
    expect(pages.filter((text) => spellings.some((word) => text.includes(word))).length).toBeGreaterThan(1);
  });
});
