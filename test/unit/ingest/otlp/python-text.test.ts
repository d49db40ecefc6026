import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPythonText } from "../../../../src/ingest/otlp/python-text.ts";

/** As Python's `repr` writes it. */
function repr(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.includes("'") ? `"${value}"` : `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  const members = Object.entries(value as object);
  return `{${members.map(([key, inner]) => `${repr(key)}: ${repr(inner)}`).join(", ")}}`;
}

/** Text without quotes of both kinds at once and without escapes, which stay as they are. */
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

describe("text of Python's repr", () => {
  it("is read as the value that was written", () => {
    fc.assert(
      fc.property(value, (written) => {
        expect(readPythonText(repr(written))).toEqual(written);
      }),
    );
  });

  it("may be of objects with members, of enumerations and of tuples", () => {
    expect(
      readPythonText(
        "ChatMessage(_role=<ChatRole.USER: 'user'>, parts=(Text(text='it\\'s'),), meta={}, at=a.B)",
      ),
    ).toEqual({ _role: "<ChatRole.USER: 'user'>", parts: [{ text: "it\\'s" }], meta: [], at: "a.B" });
  });

  it("is undefined when it is cut off, followed by more, or no such text", () => {
    const whole = "A(usage=B(tokens=3), name='x')";
    expect(readPythonText(whole)).toEqual({ usage: { tokens: 3 }, name: "x" });
    for (let end = 2; end < whole.length; end++) expect(readPythonText(whole.slice(0, end))).toBeUndefined();
    for (const none of ["", "{", "hello there", "A(b=1) c", "[1 2]", "'open"])
      expect(readPythonText(none)).toBeUndefined();
  });

  it("is not read beyond a depth", () => {
    expect(readPythonText("[".repeat(100_000))).toBeUndefined();
    expect(readPythonText(`${"[".repeat(40)}${"]".repeat(40)}`)).toBeDefined();
  });

  it("is read or given up in the time that the runner allows, however long it is", () => {
    for (const part of ["'", '"', "<", "<'", "\\'", "a(", "{'a':", "1_"])
      expect(() => readPythonText(part.repeat(300_000))).not.toThrow();
  });
});
