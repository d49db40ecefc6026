import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileQuery } from "../../../src/query/index.ts";
import { operators } from "../../../src/query/read/operators.ts";
import { render } from "../../../src/query/sql.ts";
import type { Project } from "../../../src/shared/project.ts";

interface Entry {
  readonly name: string;
  /** As it is written, because JSON has numbers that JavaScript cannot write back. */
  readonly text: string;
  readonly expected: object;
}

/** One entry a line: its name, the query, and what becomes of it. */
const accepted = readCorpus("query-accepted");
const rejected = readCorpus("query-rejected");

function readCorpus(name: string): Entry[] {
  const lines = readFileSync(fileOf(name), "utf8").trim().split("\n");
  return lines.map((line) => {
    const { name, query: _, ...expected } = JSON.parse(line) as { name: string; query: unknown };
    const text = /"query":(.*?),"(?:sql|issues)":/.exec(line)![1]!;
    return { name, text, expected };
  });
}

function fileOf(name: string): string {
  return `${import.meta.dirname}/../../corpus/${name}.jsonl`;
}

function outcomeOf(text: string): object {
  const compiled = compileQuery(JSON.parse(text), { project: "acme/demo" as Project });
  if (!compiled.ok) return { issues: compiled.issues };
  const { text: sql, params } = render(compiled.condition);
  return { sql, params };
}

/** After a change that is meant, UPDATE_CORPUS=1 writes what is; the diff is for reading. */
if (process.env["UPDATE_CORPUS"] === "1") {
  for (const [name, entries] of [
    ["query-accepted", accepted],
    ["query-rejected", rejected],
  ] as const) {
    const lines = entries.map(({ name, text }) => {
      const outcome = JSON.stringify(outcomeOf(text)).slice(1);
      return `{"name":${JSON.stringify(name)},"query":${text},${outcome}\n`;
    });
    writeFileSync(fileOf(name), lines.join(""));
  }
}

describe("a query that is accepted", () => {
  it.each(accepted)("$name", ({ text, expected }) => {
    expect(outcomeOf(text)).toEqual(expected);
  });

  it.each([...operators.keys()])("is there for %s", (operator) => {
    expect(accepted.some(({ text }) => text.includes(`{"${operator}":`))).toBe(true);
  });
});

describe("a query that is refused", () => {
  it.each(rejected)("$name", ({ text, expected }) => {
    expect(outcomeOf(text)).toEqual(expected);
  });
});
