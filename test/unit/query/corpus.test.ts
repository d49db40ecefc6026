import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readQuery } from "../../../src/query/read/read-query.ts";
import type { Issue } from "../../../src/shared/errors.ts";

interface Entry {
  readonly name: string;
  /** As it is written, because JSON has numbers that JavaScript cannot write back. */
  readonly text: string;
  readonly issues: readonly Issue[];
}

/** One entry a line: its name, the query, and what is said of it. */
const FILE = join(import.meta.dirname, "../../corpus/query-rejected.jsonl");
const rejected = readFileSync(FILE, "utf8")
  .trim()
  .split("\n")
  .map((line): Entry => {
    const { name, issues } = JSON.parse(line) as Entry;
    return { name, text: /"query":(.*?),"issues":/.exec(line)![1]!, issues };
  });

function issuesOf(text: string): readonly Issue[] {
  const read = readQuery(JSON.parse(text));
  return read.ok ? [] : read.issues;
}

/** After a change that is meant, UPDATE_CORPUS=1 writes what is; the diff is for reading. */
if (process.env["UPDATE_CORPUS"] === "1") {
  const lines = rejected.map(
    ({ name, text }) =>
      `{"name":${JSON.stringify(name)},"query":${text},"issues":${JSON.stringify(issuesOf(text))}}\n`,
  );
  writeFileSync(FILE, lines.join(""));
}

it.each(rejected)("a query is rejected: $name", ({ text, issues }) => {
  expect(issues).not.toEqual([]);
  expect(issuesOf(text)).toEqual(issues);
});
