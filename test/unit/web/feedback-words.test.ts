import { describe, expect, it } from "vitest";
import { wordsOf } from "../../../web/format/feedback-words.ts";
import { metricPaths, nameOf } from "../../../web/feedback/paths.ts";
import { perToken } from "../../../web/settings/price-draft.ts";

describe("what a feedback says", () => {
  it.each([
    ["wandb.reaction.1", { emoji: "👎", alias: ":thumbs_down:", detoned: "👎" }, [["", "👎"]]],
    ["wandb.note.1", { note: "wrong\ncity" }, [["", "wrong\ncity"]]],
    ["score", { value: 0.5 }, [["score", "0.5"]]],
    ["score", {}, [["score", "without a value"]]],
    ["wandb.note.1", { note: 4 }, [["wandb.note.1", "4"]]],
    [
      "judge",
      { output: { passed: false, why: null }, tags: ["a", "b"] },
      [
        ["judge output.passed", "false"],
        ["judge output.why", "null"],
        ["judge tags.0", "a"],
        ["judge tags.1", "b"],
      ],
    ],
  ] as const)("%s %j", (type, payload, says) => {
    expect(wordsOf(type, payload)).toEqual(says);
  });

  it("has one path for a reaction, called so", () => {
    const paths = ["alias", "detoned", "detoned_alias", "emoji", "score"].map((json_path) => ({
      json_path,
      value_type: "categorical" as const,
    }));
    expect(metricPaths(paths).map(nameOf)).toEqual(["reaction", "score"]);
    expect(metricPaths(paths.slice(0, 1)).map(nameOf)).toEqual(["alias"]);
  });
});

describe("a typed price", () => {
  it.each([
    ["1.20", 1.2e-6],
    ["1,20", 1.2e-6],
    [",5", 5e-7],
    ["1,2,3", undefined],
    ["-1", undefined],
  ])("%s", (text, price) => {
    const fields = { prompt_token_cost: text, completion_token_cost: "0" };
    expect(perToken(fields)?.prompt_token_cost).toBe(price);
  });
});
