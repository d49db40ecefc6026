import { describe, expect, it } from "vitest";
import { lookupOf, readBegun, suggestionsFor } from "../../../web/state/complete-search.ts";

const suggested = (text: string, known: readonly (string | null)[] = []) =>
  suggestionsFor(
    readBegun(text),
    known.map((value) => ({ value, hint: "" })),
  ).map(({ value }) => value);

describe("completing a search", () => {
  it("goes on with names of fields, also negated and of the root", () => {
    expect(suggested("parcel st")).toEqual(["parcel status:"]);
    expect(suggested("-la")).toEqual(["-latency>"]);
    expect(suggested("root.us")).toEqual(["root.user:"]);
    expect(suggested("co")).toEqual(["cost>"]);
    expect(suggested("inp")).toEqual(["inputs."]);
    expect(suggested("inputs.q", ["inputs.query", "inputs.model"])).toEqual(["inputs.query:"]);
  });

  it("goes on with values that exist, in quotes where a search needs them", () => {
    const known = ["ana", "Ana Maria", 'a "b', "ben", null, "none", "//x"];
    expect(suggested("-user:an", known)).toEqual(["-user:ana ", '-user:"Ana Maria" ']);
    expect(suggested('user:"ana m', known)).toEqual(['user:"Ana Maria" ']);
    expect(suggested("user:n", known)).toEqual([
      "user:ana ",
      'user:"Ana Maria" ',
      "user:ben ",
      "user:none ",
      'user:"none" ',
    ]);
    expect(suggested("user://", known)).toEqual(['user:"//x" ']);
    expect(suggested("status:", [])).toEqual(["status:failed ", "status:running ", "status:success "]);
  });

  it("stays away from texts in quotes and queries in JSON", () => {
    expect(["{st", '"a st', "https://st", "user:ana "].map((text) => suggested(text).slice(0, 1))).toEqual([
      [],
      [],
      [],
      ["user:ana status:"],
    ]);
  });

  it("looks up values of a field or the fields of a payload", () => {
    const looked = (text: string) => lookupOf(readBegun(text));
    expect(looked("x -root.user:a")).toEqual({ values: "root.user" });
    expect(looked("attributes.tenant:")).toEqual({ values: "attributes.tenant" });
    expect(looked("root.attributes.te")).toEqual({ prefix: "attributes." });
    expect(["status:", "latency>", "use", "nothing:x"].map(looked)).toEqual(Array(4).fill(undefined));
  });
});
