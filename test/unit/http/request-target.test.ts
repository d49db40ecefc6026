import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTarget } from "../../../src/http/request-target.ts";

const piece = fc.constantFrom(
  "/",
  "//",
  "a",
  "v1",
  "preview",
  ".",
  "..",
  "%2e",
  "%2E",
  "%2f",
  "%5c",
  "\\",
  ";",
  "%3b",
  "%70",
  "%25",
  "%252e",
  "%C3%A9",
  "?",
  "#",
  " ",
  "é",
  "%",
  "~",
  ":x",
  "traces",
);
const target = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join("")}`);

/** Decodes a path as a lenient server could. */
function segmentsAsRead(path: string): string[] {
  let plain = path;
  for (let times = 0; times < 3; times++) {
    plain = plain.replaceAll(/%[\da-f]{2}/gi, (escape) =>
      String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
    );
  }
  return plain.split(/[/\\]/).map((segment) => segment.split(";")[0]!.trim());
}

describe("readTarget", () => {
  it("is idempotent", () => {
    fc.assert(
      fc.property(target, (text) => {
        const once = readTarget(text);
        fc.pre(once !== undefined && !once.startsWith("/traces/"));
        expect(readTarget(once)).toBe(once);
      }),
      { numRuns: 2000 },
    );
  });

  it("rejects segments that a server could read as a parent directory", () => {
    fc.assert(
      fc.property(target, (text) => {
        const path = readTarget(text)?.split("?", 1)[0];
        const climbs = segmentsAsRead(path ?? "/").some((segment) => segment === "." || segment === "..");
        expect(climbs).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it("keeps a plain target unchanged", () => {
    for (const plain of [
      "/",
      "/v1/models/a%20b",
      "/v1/training/runs/r1:close?x=%70#",
      "/call/read",
      "/a%2Fb",
    ]) {
      expect(readTarget(plain)).toBe(plain.replace("#", "%23"));
    }
  });

  it("reads the path of an absolute form, and rejects other targets without a slash", () => {
    expect(readTarget("HTTPS://a.example:80?x=/")).toBe("/?x=/");
    expect(readTarget("http://a/http://b/x")).toBe("/http:/b/x");
    for (const none of ["*", "", "a", "a:80", "ftp://a/", "http:///", "http://u@a/", "http://:80/", "http:a"])
      expect([none, readTarget(none)]).toEqual([none, undefined]);
  });
});
