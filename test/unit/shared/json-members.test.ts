import fc from "fast-check";
import { expect, it } from "vitest";
import { stringifyJson } from "../../../src/shared/json.ts";
import { membersOf, objectOf } from "../../../src/shared/json-members.ts";

it("reads the members of an object as text, and writes them again", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const text = stringifyJson(object);
      const members = membersOf(text);
      const read = members.map(([key, value]) => [JSON.parse(key), stringifyJson(JSON.parse(value))]);
      const wanted = Object.entries(JSON.parse(text) as object);
      expect(read).toEqual(wanted.map(([key, value]) => [key, stringifyJson(value)]));
      expect(objectOf(members)).toBe(text);
    }),
    { numRuns: 500 },
  );
});
