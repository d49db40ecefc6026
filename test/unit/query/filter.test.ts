import { describe, expect, it } from "vitest";
import { compileFilter, type CallsFilter } from "../../../src/query/index.ts";
import { render } from "../../../src/query/sql.ts";

function conditionOf(filter: CallsFilter | null | undefined): string {
  const { text, params } = render(compileFilter(filter));
  return text.replaceAll(/\{(p\d+):[^}]+\}/g, (_, name: string) => JSON.stringify(params[name]));
}

const listMembers = [
  "op_names",
  "input_refs",
  "output_refs",
  "parent_ids",
  "trace_ids",
  "call_ids",
  "svc_user_ids",
  "svc_run_ids",
] as const;

describe("compileFilter", () => {
  it.each([null, undefined, {}, { trace_roots_only: false }, { trace_roots_only: null }])(
    "has no condition for %j",
    (filter) => {
      expect(conditionOf(filter)).toBe("1");
    },
  );

  it.each(listMembers)("takes an empty or missing list of %s for no condition", (member) => {
    expect(conditionOf({ [member]: [] })).toBe("1");
    expect(conditionOf({ [member]: null })).toBe("1");
  });

  it.each(["thread_ids", "turn_ids"] as const)("matches nothing by an empty list of %s", (member) => {
    expect(conditionOf({ [member]: [] })).toBe("(0)");
    expect(conditionOf({ [member]: null })).toBe("1");
  });

  it("joins its members with AND", () => {
    expect(conditionOf({ trace_ids: ["t"], call_ids: ["a", "b"], trace_roots_only: true })).toBe(
      `((trace_id IN ["t"]) AND (id IN ["a","b"]) AND (ifNull(parent_id, '') = ''))`,
    );
  });

  it("takes only a trailing :* for a wildcard, and keeps its colon", () => {
    expect(conditionOf({ op_names: ["a", "b:*", "c*", "*:d"] })).toBe(
      `(((ifNull(op_name, '') IN ["a","c*","*:d"]) OR (startsWith(ifNull(op_name, ''), "b:"))))`,
    );
  });

  it("looks many wildcards up instead of trying them", () => {
    const op_names = Array.from({ length: 1000 }, (_, n) => `op${n}:*`);
    expect(render(compileFilter({ op_names })).text.length).toBeLessThan(500);
  });
});
