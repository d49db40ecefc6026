import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPythonText } from "../../../../src/ingest/otlp/python-text.ts";

/** Formats a value as Python's `repr` does. */
function repr(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.includes("'") ? `"${value}"` : `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  const members = Object.entries(value as object);
  return `{${members.map(([key, inner]) => `${repr(key)}: ${repr(inner)}`).join(", ")}}`;
}

/** Text without escapes, and with one kind of quotes at most: the parser keeps escapes. */
const text = fc.string().map((any) => any.replaceAll(/["\\\n]/g, ""));
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

describe("readPythonText", () => {
  it("parses the output of Python's repr to the value", () => {
    fc.assert(
      fc.property(value, (written) => {
        expect(readPythonText(repr(written))).toEqual(written);
      }),
    );
  });

  it("parses objects with members, enumerations and tuples", () => {
    expect(
      readPythonText(
        "ChatMessage(_role=<ChatRole.USER: 'user'>, parts=(Text(text='it\\'s'),), meta={}, at=a.B)",
      ),
    ).toEqual({ _role: "<ChatRole.USER: 'user'>", parts: [{ text: "it\\'s" }], meta: [], at: "a.B" });
  });

  it("returns undefined for truncated text, trailing text and other text", () => {
    const whole = "A(usage=B(tokens=3), name='x')";
    expect(readPythonText(whole)).toEqual({ usage: { tokens: 3 }, name: "x" });
    for (let end = 2; end < whole.length; end++) expect(readPythonText(whole.slice(0, end))).toBeUndefined();
    for (const none of ["", "{", "hello there", "A(b=1) c", "[1 2]", "'open"])
      expect(readPythonText(none)).toBeUndefined();
  });

  it("does not parse text that is nested too deep", () => {
    expect(readPythonText("[".repeat(100_000))).toBeUndefined();
    expect(readPythonText(`${"[".repeat(40)}${"]".repeat(40)}`)).toBeDefined();
  });

  it("parses or rejects long text within the test's time limit", () => {
    for (const part of ["'", '"', "<", "<'", "\\'", "a(", "{'a':", "1_"])
      expect(() => readPythonText(part.repeat(300_000))).not.toThrow();
  });
});
