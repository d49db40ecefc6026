import { describe, expect, it } from "vitest";
import { csv } from "../../../web/format/csv.ts";
import { patternOf, piecesOf } from "../../../web/format/error-pattern.ts";
import { visible } from "../../../web/format/plain-text.ts";

describe("text of a call", () => {
  it("shows control and direction characters", () => {
    expect(visible("a\u202Egnp.exe\u0007\u200B")).toBe("a⟨U+202E⟩gnp.exe⟨U+0007⟩⟨U+200B⟩");
    expect(visible("line\r\nnext\ttab")).toBe("line\nnext\ttab");
    expect(visible("مرحبا ü 👍")).toBe("مرحبا ü 👍");
  });
});

it("a CSV file has every digit, and nothing that a spreadsheet evaluates", () => {
  expect(
    csv([
      ["a,b", 'say "x"', null, 1.5e-7],
      ["=1+1", "-x", -3, "line\nend"],
    ]),
  ).toBe('"a,b","say ""x""",,0.00000015\r\n\'=1+1,\'-x,-3,"line\nend"\r\n');
});

const TRACEBACK = (last: string) =>
  `Traceback (most recent call last):\n  File "/app/a.py", line 12, in run\n    f()\n${last}\n`;

describe("the pattern of an error", () => {
  it.each([
    ["Rate limit for org-9f8a1c: retry after 12 s", "Rate limit for org-…: retry after … s"],
    ["took 3.25s at 2026-11-28T10:00:00.123Z from 10.0.0.7:8080", "took … at … from …"],
    ["no call 6f1c2a3b-aaaa-bbbb-cccc-deadbeefcafe, 0xFF, deadbeef", "no call …, …, …"],
    [`can't read 'ana\\'s' or "b c" of user's file`, `can't read '…' or "…" of user's file`],
    [
      "Error code: 429 - {'error': {'message': 'Slow down, 3 left', 'code': 'rate_limit_exceeded'}}",
      "Error code: 429 - {'error': {'message': '…', 'code': 'rate_limit_exceeded'}}",
    ],
    ["HTTP 503 after 503 ms", "HTTP 503 after … ms"],
    [TRACEBACK("ValueError: 3 rows"), "ValueError: … rows"],
    [`${TRACEBACK("KeyError: 'a'")}\nDuring it:\n\n${TRACEBACK("x.Y: no\n  1 detail")}`, "x.Y: no"],
    ["\n\nTypeError: Zahl №5 für 'é'\n    at f (a.js:1)", "TypeError: Zahl №… für '…'"],
    ["", ""],
  ])("%j", (exception, pattern) => {
    expect(patternOf(exception)).toBe(pattern);
    for (const piece of piecesOf(pattern)) expect(exception).toContain(piece);
  });

  it("takes long errors in linear time", () => {
    expect(patternOf(`'${"\\".repeat(100_000)}`).length).toBeLessThanOrEqual(300);
  });
});
