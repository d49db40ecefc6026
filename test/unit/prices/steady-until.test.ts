import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadPriceList } from "../../../src/prices/list/load-price-list.ts";
import { createPriceBook } from "../../../src/prices/price-book.ts";
import { projectSchedules, type ProjectPrice } from "../../../src/prices/project/project-prices.ts";
import { runs } from "../../helpers/runs.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const { seed } = seededRandom();
const builtIn = await loadPriceList();
const FROM = Date.UTC(2025, 0, 1) * 1000;
const TO = Date.UTC(2027, 0, 1) * 1000;

/** Some that change by date, by time of day, by working day, and some that never do. */
const LLMS = [
  "deepseek-chat",
  "deepseek-reasoner",
  "deepseek-v4-flash",
  "gpt-4o",
  "gpt-5.2",
  "claude-sonnet-4-5",
  "o3",
  "gemini-2.5-pro",
];
const SERVICES = [
  undefined,
  { provider: "openai", tier: "priority" },
  { provider: "deepseek", tier: "" },
  { provider: "", tier: "flex" },
];

const projectPrice = fc.record({
  llm_id: fc.constantFrom(...LLMS),
  effectiveAtUs: fc.integer({ min: FROM, max: TO }),
  service_tier: fc.constantFrom("", "flex"),
  prompt_token_cost: fc.nat(9).map((usd) => usd / 1e6),
});

describe("the validity of a price", () => {
  it("ends when it changes, at the latest", () => {
    fc.assert(
      fc.property(
        fc.array(projectPrice, { maxLength: 4 }),
        fc.record({
          llm: fc.constantFrom(...LLMS),
          service: fc.constantFrom(...SERVICES),
          atUs: fc.integer({ min: FROM, max: TO }),
        }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 }),
        (own, { llm, service, atUs }, places) => {
          const project = own.map((price, number): ProjectPrice => ({
            id: String(number),
            provider_id: "default",
            createdAtMs: 0,
            completion_token_cost: 0,
            cache_read_input_token_cost: null,
            cache_creation_input_token_cost: null,
            unit_costs: {},
            ...price,
          }));
          const book = createPriceBook({ list: builtIn, project: projectSchedules(project) });
          const rates = book.ratesAt(llm, atUs, service);
          const until = book.nextPriceChange(llm, atUs, service);
          expect(until).toBeGreaterThan(atUs);
          const last = Math.min(until, TO + 1) - 1;
          for (const place of [...places, 1]) {
            const then = Math.floor(atUs + Math.max(0, last - atUs) * place);
            expect(book.ratesAt(llm, then, service)).toEqual(rates);
          }
        },
      ),
      { seed, numRuns: runs(1000, 30_000) },
    );
  });
});
