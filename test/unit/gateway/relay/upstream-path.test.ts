import { describe, expect, it } from "vitest";
import { chatPath, clientLocation, upstreamPath } from "../../../../src/gateway/relay/upstream-path.ts";

describe("upstreamPath", () => {
  it("puts everything behind /v1 under the upstream's own base path, to the character", () => {
    expect(upstreamPath("/api/training/v1", "/v1/preview/models/a%20b/?x=1&y=%2F")).toBe(
      "/api/training/v1/preview/models/a%20b/?x=1&y=%2F",
    );
    expect(upstreamPath("", "/v1/training/runs/r1:close")).toBe("/training/runs/r1:close");
    expect(upstreamPath("/v1", "/v1/x?path=../..")).toBe("/v1/x?path=../..");
  });

  it.each(["/v1/../admin", "/v1/a/%2e%2E/b", "/v1/.", "/v1/a%2f..%2fb", "/v1/a\\..\\b", "/v1/%2e/x"])(
    "refuses %s, which could leave the base path",
    (url) => {
      expect(upstreamPath("/v1", url)).toBeUndefined();
    },
  );
});

describe("chatPath", () => {
  it("is the form without the slash for both, with the query", () => {
    expect(chatPath("/v1", "/v1/chat/completions/?a=1")).toBe("/v1/chat/completions?a=1");
    expect(chatPath("/v1", "/v1/chat/completions")).toBe("/v1/chat/completions");
  });
});

describe("clientLocation", () => {
  const base = new URL("https://up/api/v1/");
  it("turns a redirect within the upstream into one within the gateway", () => {
    expect(clientLocation("https://up/api/v1/x?y=1", base)).toBe("/v1/x?y=1");
    expect(clientLocation("/api/v1/x", base)).toBe("/v1/x");
  });
  it("leaves a redirect to elsewhere alone", () => {
    expect(clientLocation("https://files/x", base)).toBe("https://files/x");
    expect(clientLocation("/login", base)).toBe("/login");
  });
});
