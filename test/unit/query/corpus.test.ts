import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileQuery } from "../../../src/query/index.ts";
import { operators } from "../../../src/query/operators.ts";
import { render } from "../../../src/query/sql.ts";
import type { Fault } from "../../../src/shared/errors.ts";
import type { Project } from "../../../src/shared/project.ts";

interface Accepted {
  readonly name: string;
  readonly query: unknown;
  readonly sql: string;
  readonly params: object;
}

interface Rejected {
  readonly name: string;
  readonly query: unknown;
  readonly faults: readonly Fault[];
}

const accepted = readCorpus<Accepted>("query-accepted");
const rejected = readCorpus<Rejected>("query-rejected");
const project = "acme/demo" as Project;

function readCorpus<Line>(name: string): Line[] {
  const text = readFileSync(`${import.meta.dirname}/../../corpus/${name}.jsonl`, "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

describe("a query that is accepted", () => {
  it.each(accepted)("$name", ({ query, sql, params }) => {
    const compiled = compileQuery(query, { project });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
    const rendered = render(compiled.condition);
    expect(rendered.text).toBe(sql);
    expect(rendered.params).toEqual(params);
  });

  it.each([...operators.keys()])("is there for %s", (operator) => {
    expect(accepted.some(({ query }) => JSON.stringify(query).includes(`{"${operator}":`))).toBe(true);
  });
});

describe("a query that is refused", () => {
  it.each(rejected)("$name", ({ query, faults }) => {
    expect(compileQuery(query, { project })).toEqual({ ok: false, faults });
  });
});
