import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const PROGRAMS = join(root, "test/python/programs");
/** How the programs that `npm run test:python` runs write what the page writes plainly. */
const PLAIN: readonly (readonly [string, string])[] = [
  ['os.environ["SUMTREE_URL"] + "', '"http://127.0.0.1:8080'],
  ['os.environ["OPENAI_BASE_URL"]', '"http://127.0.0.1:8080/v1"'],
  ['os.environ.get("OPENAI_PROJECT")', '"acme/my-project"'],
  ['os.environ["PROJECT"]', '"acme/my-project"'],
  ['os.environ["SUMTREE_KEY"]', "key"],
  ['os.environ["OPENAI_API_KEY"]', "key"],
];

const programs = readdirSync(PROGRAMS)
  .filter((file) => file.endsWith(".py"))
  .map((file) =>
    PLAIN.reduce(
      (text, [own, plain]) => text.replaceAll(own, plain),
      readFileSync(join(PROGRAMS, file), "utf8"),
    ),
  );
const page = readFileSync(join(root, "docs/clients-python.md"), "utf8");
const blocks = [...page.matchAll(/```python\n(.*?)```/gs)].map(([, lines]) => lines!);

describe("the Python lines of docs/clients-python.md", () => {
  it.each(blocks)("are lines of a tested program: %s", (block) => {
    const inFunction = block.replaceAll(/^(?=.)/gm, "    ");
    expect(programs.some((program) => program.includes(block) || program.includes(inFunction))).toBe(true);
  });

  it("cover many packages", () => expect(blocks.length).toBeGreaterThan(12));
});
