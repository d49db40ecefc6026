import { describe, expect, it } from "vitest";
import { AppError, invalid } from "../../../src/shared/errors.ts";
import { envelopeOf, readableError } from "../../../src/gateway/error-envelope.ts";

const readable = (status: number, body: string): unknown => {
  const changed = readableError(status, Buffer.from(body));
  return changed === undefined ? undefined : JSON.parse(changed.toString());
};

describe("envelopeOf", () => {
  it("says the same in both shapes", () => {
    expect(envelopeOf(new AppError("forbidden", "No."))).toEqual({
      error: { message: "No.", type: "permission_error", param: null, code: "forbidden" },
      detail: "No.",
    });
  });

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
  it("adds error to a body of the detail kind, and keeps the rest to the byte", () => {
    const body = '{"detail": [{"loc": ["body", "n"], "msg": "must be \\u2265 1", "type": "t", "ctx": 1.0}]}';
    const changed = readableError(422, Buffer.from(body))!.toString();
    expect(changed.endsWith(body.slice(1))).toBe(true);
    expect((JSON.parse(changed) as { error: object }).error).toEqual({
      message: "n: must be ≥ 1",
      type: "invalid_request_error",
      param: "n",
      code: null,
    });
    expect(readable(500, '{"detail":"workflow error"}')).toEqual({
      error: { message: "workflow error", type: "upstream_error", param: null, code: null },
      detail: "workflow error",
    });
  });

  it("lifts the members of a flat error", () => {
    const flat = { object: "error", message: "too long", type: "BadRequestError", param: null, code: 400 };
    expect(readable(400, JSON.stringify(flat))).toEqual({
      error: { message: "too long", type: "BadRequestError", param: null, code: 400 },
      ...flat,
    });
    expect(readable(404, "{}")).toMatchObject({ error: { type: "not_found_error" } });
  });

  it("wraps what is not JSON as text", () => {
    expect(readable(524, "<html><style>p{}</style><h1>524:</h1>\n<p>A timeout occurred</p></html>")).toEqual({
      error: { message: "524: A timeout occurred", type: "upstream_error", param: null, code: null },
      detail: "524: A timeout occurred",
    });
    expect(readable(502, "")).toMatchObject({ detail: "The upstream answered 502 without a body." });
  });

  it("reads details of any form and depth", () => {
    expect(readable(400, '{"detail":{"reason":"x"}}')).toMatchObject({
      error: { message: '{"reason":"x"}' },
    });
    const deep = `{"detail":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    const changed = readableError(400, Buffer.from(deep))!.toString();
    expect(changed).toContain('"message":"The upstream answered 400."');
    expect(changed.endsWith(deep.slice(1))).toBe(true);
  });

  it("leaves an error alone that SDKs can read", () => {
    expect(readable(400, '{"error":{"message":"m"}}')).toBeUndefined();
    expect(readable(400, '{"error":"m"}')).toBeUndefined();
  });
});
