import { describe, expect, it } from "vitest";
import { aliasOf } from "../../../src/feedback/emoji-names.ts";

describe("aliasOf", () => {
  // source: `emoji.demojize` of the Python package `emoji` 2.16
  it.each([
    ["👍", ":thumbs_up:"],
    ["👎🏿", ":thumbs_down_dark_skin_tone:"],
    ["❤️", ":red_heart:"],
    ["❤", ":red_heart:"],
    ["🎉", ":party_popper:"],
    ["1️⃣", ":keycap_1:"],
    ["🇨🇬", ":Congo-Brazzaville:"],
    ["🏴󠁧󠁢󠁥󠁮󠁧󠁿", ":England:"],
    ["⛳", ":flag_in_hole:"],
    ["🏁", ":chequered_flag:"],
    ["👨‍👩‍👧", ":family_man_woman_girl:"],
    ["🧑🏿‍🤝‍🧑🏻", ":people_holding_hands_dark_skin_tone_light_skin_tone:"],
    ["🏃🏽‍♂️‍➡️", ":man_running_facing_right_medium_skin_tone:"],
    ["🈴", ":Japanese_passing_grade_button:"],
    ["☝🏻", ":index_pointing_up_light_skin_tone:"],
  ])("%s is %s", (emoji, alias) => {
    expect(aliasOf(emoji)).toBe(alias);
  });

  it("returns undefined for an emoji that the list lacks", () => {
    expect(aliasOf("👍👎")).toBeUndefined();
  });
});
