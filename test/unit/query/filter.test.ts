import { describe, expect, it } from "vitest";
import { compileFilter } from "../../../src/query/filter.ts";
import { render } from "../../../src/query/sql.ts";

const LISTS = [
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
  it.each([
    null,
    undefined,
    {},
    { trace_roots_only: false },
    { trace_roots_only: null, thread_ids: null, turn_ids: null },
    ...LISTS.flatMap((member) => [{ [member]: [] }, { [member]: null }]),
  ])("has no condition for %j", (filter) => {
    expect(render(compileFilter(filter)).text).toBe("1");
  });

  it("looks up many wildcards instead of matching each", () => {
    const op_names = Array.from({ length: 1000 }, (_, n) => `op${n}:*`);
    expect(render(compileFilter({ op_names })).text.length).toBeLessThan(500);
  });
});
