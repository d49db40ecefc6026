import { describe, expect, it } from "vitest";
import { invalid } from "../../../src/shared/errors.ts";
import { envelopeOf } from "../../../src/gateway/errors.ts";
import { readableError } from "../../../src/gateway/apis/error-in-response.ts";

const readable = (status: number, body: string): unknown => {
  const changed = readableError(status, Buffer.from(body));
  return changed === undefined ? undefined : JSON.parse(changed.toString());
};

describe("envelopeOf", () => {
  it("names the first issue and counts the others", () => {
    const issues = [
      { loc: ["query", "limit"], msg: "Too big", type: "less_than_equal" },
      { loc: ["query", "order"], msg: "Odd", type: "literal_error" },
    ];
    expect(envelopeOf(invalid(issues))).toEqual({
      error: {
        message: "limit: Too big (and 1 more)",
        type: "invalid_request_error",
        param: "limit",
        code: "validation",
      },
      detail: issues,
    });
  });
});

describe("readableError", () => {
  it("adds `error` to any object, and keeps the rest byte for byte", () => {
    expect(readable(404, "{}")).toMatchObject({ error: { type: "not_found_error" } });
    expect(readable(400, '{"detail":{"reason":"x"}}')).toMatchObject({
      error: { message: '{"reason":"x"}' },
    });
    const deep = `{"detail":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    const changed = readableError(400, Buffer.from(deep))!.toString();
    expect(changed).toContain('"message":"The upstream returned 400."');
    expect(changed.endsWith(deep.slice(1))).toBe(true);
  });
});
