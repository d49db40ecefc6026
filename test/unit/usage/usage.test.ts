import { expect, it } from "vitest";
import { countsAt, COUNT_SLOTS } from "../../../src/usage/count-fields.ts";
import { isNothing, type PricedUsage } from "../../../src/usage/usage.ts";

const none: PricedUsage = { ...countsAt(new Float64Array(COUNT_SLOTS), 0), cacheOutsidePrompt: false };

it.each([
  ["no counts", {}, true],
  ["parts of counts that are 0", { units: { cache_write_1h_tokens: 597, output_audio_tokens: 3 } }, true],
  ["parts beside something that is no part", { units: { input_audio_tokens: 2, web_searches: 1 } }, false],
  ["a request", { requests: 1 }, false],
])("%s", (_what, more, expected) => {
  expect(isNothing({ ...none, ...more })).toBe(expected);
});
