import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  pathBehindPrefix,
  readBase,
  targetUnder,
  withQueryOf,
} from "../../../../src/gateway/relay/upstream-path.ts";

describe("targetUnder", () => {
  it("appends the path after /v1 to the upstream's base path, unchanged", () => {
    const targetOf = (base: string, url: string): string =>
      targetUnder(readBase(base), pathBehindPrefix(url));
    expect(targetOf("https://up/api/training/v1/", "/v1/preview/models/a%20b/?x=1&y=%2F")).toBe(
      "/api/training/v1/preview/models/a%20b/?x=1&y=%2F",
    );
    expect(targetOf("https://up", "/v1/training/runs/r1:close")).toBe("/training/runs/r1:close");
  });

  it("keeps the client's query unchanged, and adds the base's parameters that it lacks", () => {
    const name = fc.constantFrom("api-version", "code", "a", "a b", "é");
    const parameter = fc
      .tuple(name, fc.constantFrom("", "1", "2024-10-21", "x=y", "%2F"))
      .map(([key, value]) => ({
        key,
        text: `${encodeURIComponent(key)}=${value}`,
      }));
    const parameters = fc.array(parameter, { maxLength: 4 });
    fc.assert(
      fc.property(parameters, parameters, (ofBase, ofClient) => {
        const queryOf = (some: typeof ofBase): string =>
          some.length === 0 ? "" : `?${some.map(({ text }) => text).join("&")}`;
        const target = targetUnder(readBase(`https://up/v1${queryOf(ofBase)}`), `/x${queryOf(ofClient)}`);
        const added = ofBase.filter(({ key }) => !ofClient.some((one) => one.key === key));
        expect(target).toBe(`/v1/x${queryOf([...ofClient, ...added])}`);
      }),
    );
  });
});

describe("withQueryOf", () => {
  it("returns another path with the query of the request", () => {
    expect(withQueryOf("/v1/chat/completions/?a=1", "/chat/completions")).toBe("/chat/completions?a=1");
    expect(withQueryOf("/v1/chat/completions", "/chat/completions/")).toBe("/chat/completions/");
  });
});
