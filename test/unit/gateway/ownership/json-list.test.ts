import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonList } from "../../../../src/gateway/ownership/json-list.ts";
import { runs } from "../../../helpers/runs.ts";

const number = fc.constantFrom(
  "0",
  "-0.50",
  "1E5",
  "1.0e-7",
  "9223372036854775808",
  "1e400",
  "12345678901234567.10",
);
const text = fc.string({ unit: "binary" }).map((one) => JSON.stringify(one));
const item = fc.oneof(
  number,
  text,
  fc.tuple(text, number).map((both) => `[${both.join()},true]`),
  fc.tuple(text, number, text).map(([a, n, t]) => `{"k":[${a},{"n":${n}}],"t":${t}}`),
);

describe("JsonList", () => {
  it("leaves out any items of any list, and keeps how numbers are written", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ json: item, isLeft: fc.boolean() }), { maxLength: 6 }),
        fc.array(fc.tuple(fc.string(), item), { maxLength: 3 }),
        fc.boolean(),
        (items, members, isBare) => {
          const textOf = (kept: typeof items): string => {
            const list = kept.map(({ json }) => json).join();
            const others = members.map(
              ([name, json], at) => `${JSON.stringify(`x${at}${name}`)}:{"v":${json}},`,
            );
            return isBare ? `[${list}]` : `{${others.join("")}"data":[${list}],"z":1.0}`;
          };
          let at = 0;
          const kept = new JsonList(Buffer.from(textOf(items))).filter(() => items[at++]?.isLeft !== true);
          const left = items.filter(({ isLeft }) => !isLeft);
          expect(kept?.toString()).toBe(left.length === items.length ? undefined : textOf(left));
        },
      ),
      { numRuns: runs(200, 20_000), seed: 20_260_702 },
    );
  });
});
