import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { climbs, normalizeTarget } from "../../../src/http/request-target.ts";

const PIECES = "/ // a v1 preview . .. %2e %2E %2f %5c \\ ; %3b %70 %25 %252e %C3%A9 ? # % ~ :x traces";
const target = fc
  .array(fc.constantFrom(...PIECES.split(" ")), { maxLength: 12 })
  .map((pieces) => `/${pieces.join("")}`);

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

describe("a request target", () => {
  it("is normalized once", () => {
    const isOnce = fc.property(target, (text) => {
      const once = normalizeTarget(text);
      fc.pre(!once.startsWith("/traces/"));
      expect(normalizeTarget(once)).toBe(once);
    });
    fc.assert(isOnce, { numRuns: 2000 });
  });

  it("climbs if a server could read a segment as that of a parent directory", () => {
    const isFound = fc.property(target, (text) => {
      const path = text.split("?", 1)[0]!;
      if (segmentsAsRead(path).some((segment) => segment === "." || segment === ".."))
        expect(climbs(normalizeTarget(text))).toBe(true);
    });
    fc.assert(isFound, { numRuns: 2000 });
  });

  it.each([
    ["/", "/"],
    ["/v1/models/a%20b?x=%70#", "/v1/models/a%20b?x=%70%23"],
    ["/v1/training/runs/r1:close", "/v1/training/runs/r1:close"],
    ["/a%2Fb/%3A", "/a%2Fb/%3A"],
    ["HTTPS://a.example:80?x=/", "/?x=/"],
    ["http://a/http://b//x", "/http:/b/x"],
    ["//other.example/x", "/other.example/x"],
    ["/traces/%76%31//models", "/v1/models"],
    ["/traces/facets/", "/traces/facets/"],
    ["*healthz", "/*healthz"],
    ["ftp://a/healthz", "/ftp:/a/healthz"],
  ])("%s is %s", (given, normalized) => {
    expect(normalizeTarget(given)).toBe(normalized);
  });
});
