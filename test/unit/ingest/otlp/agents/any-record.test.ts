import fc from "fast-check";
import { expect, it } from "vitest";
import { changed, fixtureLogs, read } from "../../../../helpers/agent-logs.ts";
import { chosenSeed } from "../../../../helpers/seeded-random.ts";
import { parseJson } from "../../../../../src/shared/json.ts";

const LOGS = ["claude-code", "codex", "gemini-cli", "qwen-code", "cline", "cursor", "copilot"].flatMap(
  fixtureLogs,
);
const NAMES = [...new Set(LOGS.flatMap(([{ attributes }]) => [...attributes.keys()]))];

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.double(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    undefined,
    "NaN",
    "1e400",
    "-1",
    "__proto__",
    "constructor",
    "2026-02-30T00:00:00Z",
    "0001-01-01",
    1e300,
    parseJson("9007199254740993"),
  ),
);

it("any record is stored, rejected or ignored, and again so when it is sent again", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...LOGS),
      fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 8 }),
      fc.record(
        {
          atNanos: fc.bigInt(0n, 2n ** 64n - 1n),
          observedAtNanos: fc.bigInt(0n, 2n ** 64n - 1n),
          body: value,
          eventName: fc.string(),
          traceId: fc.string(),
          spanId: fc.string(),
        },
        { requiredKeys: [] },
      ),
      (log, attributes, members) => {
        const sent = changed(log, attributes, members);
        const event = read(sent, true);
        if (typeof event === "object") expect(event.id).toMatch(/^[0-9a-f]{32}$/);
        expect(read(sent, true)).toEqual(event);
      },
    ),
    { seed: chosenSeed(), numRuns: 3000 },
  );
});
