import { describe, expect, it } from "vitest";
import { RATING_PATTERN, ratingOf, readRating } from "../../../web/state/rating.ts";

describe("a rating as it is typed", () => {
  it.each([
    ["score >= 0.5", { json_path: "score", op: "$gte", value: 0.5 }],
    ["score>0", { json_path: "score", op: "$gt", value: 0 }],
    ["output.cost <= 1e-3", { json_path: "output.cost", op: "$lte", value: 0.001 }],
    ["passed = true", { json_path: "passed", op: "$eq", value: true }],
    ['label = "0.5"', { json_path: "label", op: "$eq", value: "0.5" }],
    ["emoji = 👍", { json_path: "emoji", op: "$eq", value: "👍" }],
    ["label = very good ", { json_path: "label", op: "$eq", value: "very good" }],
  ])("reads %s", (text, rating) => {
    expect(readRating(text)).toEqual(rating);
    expect(text).toMatch(new RegExp(`^(?:${RATING_PATTERN})$`, "v"));
  });

  it.each(["", "score", "score >=", ">= 1", "score = "])("does not guess at %j", (text) => {
    expect(readRating(text)).toBeUndefined();
    expect(text).not.toMatch(new RegExp(`^(?:${RATING_PATTERN})$`, "v"));
  });

  it("suggests what can be read", () => {
    for (const value_type of ["numeric", "boolean", "categorical"] as const)
      expect(readRating(ratingOf({ json_path: "a.b", value_type }))).toMatchObject({ json_path: "a.b" });
  });
});
