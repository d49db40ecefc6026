import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GEMINI_APIS, MODEL_APIS } from "../../../../src/gateway/apis/model-apis.ts";
import { readWholeBody } from "../../../../src/gateway/holds/read-body.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";
import { runs } from "../../../helpers/runs.ts";
import { heldFor } from "./asked.ts";

const names =
  "model messages input prompt content contents parts requests tools functions plugins type name id source data image_url " +
  "input_audio inlineData mimeType max_tokens max_completion_tokens max_output_tokens n best_of generationConfig " +
  "maxOutputTokens candidateCount service_tier speed inference_geo models fallbacks context_management query documents " +
  "prediction max_uses max_tool_calls previous_response_id file_id result __proto__ constructor";
const words =
  "gpt-4.1 claude-opus-4-6 sonar-deep-research web_search text base64 image priority fast us 5 -1 1e400";

const name = fc.constantFrom(...names.split(" "));
const leaf = fc.oneof(
  fc.constantFrom(...words.split(" ")),
  fc.constantFrom(0, -1, 1, 4, 1.5, 2 ** 53, 1e308, null, true, false),
  fc.string({ maxLength: 9 }),
);
const { body } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, leaf, tie("list"), tie("body")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  body: fc.dictionary(name, tie("value"), { maxKeys: 6 }),
}));
const paths = [...MODEL_APIS.map(({ path }) => path), ...GEMINI_APIS.keys()];

describe("worstCaseOf", () => {
  it("bounds any JSON object at any endpoint by whole tokens", () => {
    const property = fc.property(body, fc.constantFrom(...paths), fc.boolean(), (json, path, isForm) => {
      const read = readWholeBody(Buffer.from(JSON.stringify(json)), "application/json");
      const held = heldFor(path, read.body, isForm ? { formBytes: 1_000 } : {});
      expect(Number.isInteger(held.tokens) && held.tokens > 0, String(held.tokens)).toBe(true);
      expect(held.usd === null || held.usd >= 0n).toBe(true);
    });
    fc.assert(property, { seed: chosenSeed(), numRuns: runs(1_000, 30_000) });
  });
});
