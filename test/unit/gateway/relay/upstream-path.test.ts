import { describe, expect, it } from "vitest";
import { chatPath, pathUnder, upstreamPath } from "../../../../src/gateway/relay/upstream-path.ts";

describe("upstreamPath", () => {
  it("puts everything behind /v1 under the upstream's own base path, to the character", () => {
    expect(upstreamPath("/api/training/v1", "/v1/preview/models/a%20b/?x=1&y=%2F")).toBe(
      "/api/training/v1/preview/models/a%20b/?x=1&y=%2F",
    );
    expect(upstreamPath("", "/v1/training/runs/r1:close")).toBe("/training/runs/r1:close");
  });
});

describe("chatPath", () => {
  it("is the form that the upstream takes for both forms of ours, with the query", () => {
    expect(chatPath("/v1", "/chat/completions", "/v1/chat/completions/?a=1")).toBe(
      "/v1/chat/completions?a=1",
    );
    expect(chatPath("/v1", "/chat/completions/", "/v1/chat/completions")).toBe("/v1/chat/completions/");
  });
});

describe("pathUnder", () => {
  const base = new URL("https://up/api/v1/");
  it("is where a redirect within the upstream leads, whatever scheme the upstream believes in", () => {
    expect(pathUnder(base, "https://up/api/v1/x?y=1")).toBe("/x?y=1");
    expect(pathUnder(base, "/api/v1/x")).toBe("/x");
    expect(pathUnder(base, "http://up/api/v1/x/")).toBe("/x/");
  });
  it.each(["https://files/x", "/login", "https://up:8443/api/v1/x", "http://"])(
    "is nowhere for %s",
    (location) => {
      expect(pathUnder(base, location)).toBeUndefined();
    },
  );
});
