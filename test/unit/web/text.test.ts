import { describe, expect, it } from "vitest";
import { csv } from "../../../web/numbers/csv.ts";
import { clock, span } from "../../../web/numbers/instants.ts";
import { shortName } from "../../../web/numbers/op-name.ts";
import { oneLine, visible } from "../../../web/numbers/plain-text.ts";

describe("text of a call", () => {
  it("shows what would turn, hide or ring", () => {
    expect(visible("a\u202Egnp.exe\u0007\u200B")).toBe("a⟨U+202E⟩gnp.exe⟨U+0007⟩⟨U+200B⟩");
    expect(visible("line\r\nnext\ttab")).toBe("line\nnext\ttab");
    expect(visible("مرحبا ü 👍")).toBe("مرحبا ü 👍");
  });

  it("is one line in a row, and cut where nobody reads on", () => {
    expect(oneLine("a\nb\r\n\tc")).toBe("a b c");
    expect(oneLine("x".repeat(1_000_000)).length).toBe(301);
  });

  it("is a short name where it is a reference", () => {
    expect(shortName("weave:///acme/app/op/answer:v3", null)).toBe("answer");
    expect(shortName("openai.chat", "")).toBe("openai.chat");
    expect(shortName("openai.chat", "Planner")).toBe("Planner");
    expect(shortName("", null)).toBe("(no name)");
  });
});

it("a file for a spreadsheet has every digit, and nothing that it would run", () => {
  expect(
    csv([
      ["a,b", 'say "x"', null, 1.5e-7],
      ["=1+1", "-x", -3, "line\nend"],
    ]),
  ).toBe('"a,b","say ""x""",,0.00000015\r\n\'=1+1,\'-x,-3,"line\nend"\r\n');
});

describe("an instant", () => {
  const now = Date.parse("2026-11-22T03:00:00Z");
  it("is told by the clock of the zone", () => {
    expect(clock("2026-11-22T02:11:04.204Z", "Europe/Berlin", { now })).toBe("03:11:04.204");
    expect(clock("2026-11-21T22:30:00.000Z", "Europe/Berlin", { now })).toBe("21 Nov 23:30:00");
    expect(clock("2026-11-21T23:30:00.000Z", "Europe/Berlin", { now })).toBe("00:30:00.000");
  });
  it("makes a span with another", () => {
    expect(span(now - 3_600_000, now, "UTC", now)).toContain("02:00");
    expect(span(now - 3_600_000, now, "UTC", now)).not.toMatch(/\d{4}/);
    expect(span(now - 3_600_000, now, "UTC", now + 366 * 86_400_000)).toContain(
      String(new Date(now).getUTCFullYear()),
    );
  });
});
