import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileQuery } from "../../../src/query/compile.ts";
import { operators } from "../../../src/query/read/operators.ts";
import { readQuery } from "../../../src/query/read/read-query.ts";
import { render } from "../../../src/query/sql.ts";
import type { Issue } from "../../../src/shared/errors.ts";
import { parseJson } from "../../../src/shared/json.ts";
import type { Project } from "../../../src/shared/project.ts";

const project = "acme/demo" as Project;
const x = { $getField: "inputs.x" };
const one = { $eq: [x, { $literal: 1 }] };

function textOf(query: unknown): string {
  return render(compileQuery(query, { project }).condition).text;
}

function issuesOf(query: unknown): readonly Issue[] {
  const read = readQuery(query);
  return read.ok ? [] : read.issues;
}

function nested(levels: number, innermost: object): object {
  let operation = innermost;
  for (let level = 1; level < levels; level++) operation = { $not: [operation] };
  return { $expr: operation };
}

describe("compileQuery", () => {
  it("compares with no instant outside the stored range", () => {
    const [first, last] = [Date.UTC(1900, 0, 1) * 1000, Date.UTC(2255, 0, 1) * 1000];
    const far = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 0, max: 9999 }).map((year) => `${String(year).padStart(4, "0")}-06-01`),
    );
    fc.assert(
      fc.property(far, (at) => {
        const compiled = compileQuery(
          { $expr: { $gt: [{ $getField: "started_at" }, { $literal: at }] } },
          { project },
        );
        // no -0
        const micros = Math.round(typeof at === "string" ? Date.parse(at) * 1000 : at * 1e6) + 0;
        const { params } = render(compiled.condition);
        const within = Math.min(Math.max(micros, first - 1), last);
        expect(Object.values(params).map(Number)).toEqual([within]);
      }),
    );
  });

  it("puts no text of a literal, a field's name or a feedback type into the SQL", () => {
    const marked = fc.string({ unit: "binary", maxLength: 30 }).map((text) => `MARK${text}MARK`);
    fc.assert(
      fc.property(marked, fc.constantFrom("inputs", "output", "attributes", "summary"), (text, head) => {
        const feedback = { $getField: `feedback.[${text.replaceAll(/[\]\n]/g, "")}].payload.${text}` };
        const sql = textOf({
          $expr: {
            $or: [
              { $eq: [{ $getField: `${head}.${text}` }, { $literal: text }] },
              { $in: [{ $getField: "id" }, [{ $literal: text }, { $literal: 1 }]] },
              { $contains: { input: { $getField: `${head}.0.${text}` }, substr: { $literal: text } } },
              { $gt: [feedback, { $literal: text }] },
            ],
          },
        });
        expect(sql).not.toContain("MARK");
      }),
      { numRuns: 500 },
    );
  });

  it("never throws, for any input: every issue has a path that begins with query", () => {
    const names = [
      ...operators.keys(),
      "input",
      "substr",
      "to",
      "$expr",
      "case_insensitive",
      "__proto__",
      "x",
    ];
    const { json } = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof(
        { depthSize: "medium" },
        fc.constantFrom<unknown>(
          null,
          true,
          0,
          -1,
          Infinity,
          "",
          "int",
          "op_name",
          "inputs.x",
          "started_at",
          "feedback.[a].payload",
        ),
        fc.array(tie("json"), { maxLength: 3 }),
        fc.array(fc.tuple(fc.constantFrom(...names), tie("json")), { minLength: 1, maxLength: 3 }).map(
          (members) =>
            // as a parser would make it: __proto__ is a member like others
            JSON.parse(
              `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? "null"}`).join(",")}}`,
            ) as unknown,
        ),
      ),
    }));
    fc.assert(
      fc.property(json, ($expr) => {
        const read = readQuery({ $expr });
        if (read.ok) return;
        expect(read.issues.length).toBeGreaterThan(0);
        for (const issue of read.issues) expect(issue.loc.slice(0, 2)).toEqual(["query", "$expr"]);
      }),
      { numRuns: 3000 },
    );
  });

  it("accepts 64 levels, and no more", () => {
    expect(issuesOf(nested(64, one))).toEqual([]);
    expect(issuesOf(nested(65, one))).toEqual([
      {
        loc: ["query", "$expr", ...Array.from({ length: 64 }, () => ["$not", 0]).flat(), "$eq"],
        msg: "A query nests at most 64 levels deep",
        type: "too_deep",
      },
    ]);
  });

  it("accepts 1,000 nodes, and no more, and reports that once", () => {
    const many = (count: number): object => ({ $expr: { $or: Array.from({ length: count }, () => x) } });
    expect(issuesOf(many(999))).toEqual([]);
    expect(issuesOf(many(1000))).toEqual([
      { loc: ["query", "$expr"], msg: "A query has at most 1000 nodes", type: "too_long" },
    ]);
    expect(issuesOf(many(1_000_000))).toHaveLength(1);
  });

  it("rejects a statement that is too large for ClickHouse", () => {
    const long = { $getField: `inputs${".a".repeat(60)}` };
    const conditions = Array.from({ length: 400 }, () => long);
    expect(issuesOf({ $expr: { $or: conditions } }).map((issue) => issue.type)).toEqual(["too_long"]);
  });

  it("does not grow exponentially, for any nesting of conditions", () => {
    const shapes: ((inner: object) => object)[] = [
      (inner) => ({ $in: [inner, [x, x, { $literal: null }]] }),
      (inner) => ({ $contains: { input: inner, substr: x, case_insensitive: true } }),
      (inner) => ({
        $gt: [{ $convert: { input: { $convert: { input: inner, to: "bool" } }, to: "string" } }, x],
      }),
    ];
    for (const shape of shapes) {
      let operation: object = one;
      for (let level = 0; level < 20; level++) operation = shape(operation);
      expect(textOf({ $expr: operation }).length).toBeLessThan(20_000);
    }
  });

  it("reads 64-bit integers that the body's parser keeps as text", () => {
    const query = parseJson('{"$expr":{"$eq":[{"$getField":"inputs.x"},{"$literal":9007199254740993}]}}');
    const compiled = compileQuery(query, { project });
    expect(Object.values(render(compiled.condition).params)).toContain("9007199254740992");
  });
});
