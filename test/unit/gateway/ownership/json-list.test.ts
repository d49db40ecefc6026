import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonList } from "../../../../src/gateway/ownership/json-list.ts";
import { runs } from "../../../helpers/runs.ts";

const space = fc.constantFrom("", " ", "\n\t", "  ");
const json = fc.json({ maxDepth: 3 });

describe("JsonList", () => {
  it("leaves out any items of any list, and keeps all other bytes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ text: json, isLeft: fc.boolean(), before: space, after: space }), {
          maxLength: 6,
        }),
        fc.array(fc.tuple(fc.string(), json, space), { maxLength: 3 }),
        fc.boolean(),
        (items, members, isBare) => {
          const textOf = (kept: typeof items): string => {
            const list = kept.map(({ before, text, after }) => `${before}{"v":${text}}${after}`).join();
            const others = members.map(
              ([name, value, gap]) => `${gap}${JSON.stringify(`x${name}`)}${gap}:${value},`,
            );
            return isBare ? `[${list}]` : `{${others.join("")}"data":[${list}],"z":1.0}`;
          };
          const list = new JsonList(Buffer.from(textOf(items)));
          const found = list.items.slice(list.items.length - items.length);
          const left = new Set(found.filter((_item, at) => items[at]!.isLeft));
          const kept = textOf(items.filter(({ isLeft }) => !isLeft));
          expect(list.without(left).toString()).toBe(kept);
        },
      ),
      { numRuns: runs(200, 20_000) },
    );
  });
});
