import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sumOf, totalOf, type UsageByLlm } from "../../../web/numbers/usage.ts";
import { ownUsage } from "../../../web/trace/ledger.ts";
import { usageOf } from "./usage-of.ts";

describe("a total", () => {
  it("is unknown when nothing of it has a price, and at least so much when something has", () => {
    const priced = usageOf("gpt-4o", 100, 0.5);
    const unpriced = usageOf("acme-7b", 50, null);
    expect(totalOf(unpriced)).toMatchObject({ tokens: 50, usd: null, unpriced: ["acme-7b"] });
    expect(totalOf({ ...priced, ...unpriced })).toMatchObject({
      tokens: 150,
      usd: 0.5,
      unpriced: ["acme-7b"],
    });
    expect(sumOf([totalOf(unpriced), totalOf({}), totalOf(unpriced)])).toMatchObject({
      tokens: 100,
      usd: null,
    });
    expect(totalOf({})).toMatchObject({ tokens: 0, usd: 0, unpriced: [] });
  });
});

describe("what a call used itself", () => {
  const usages = fc.dictionary(
    fc.constantFrom("a", "b", "c"),
    fc.record({ tokens: fc.nat(1000), picodollars: fc.nat(1e9) }),
  );
  const byLlm = (parts: Readonly<Record<string, { tokens: number; picodollars: number }>>): UsageByLlm =>
    Object.assign(
      {},
      ...Object.entries(parts).map(([llm, { tokens, picodollars }]) =>
        usageOf(llm, tokens, picodollars / 1e12),
      ),
    ) as UsageByLlm;

  it("is what was added to those below", () => {
    fc.assert(
      fc.property(usages, fc.array(usages, { maxLength: 4 }), (own, below) => {
        const llms = new Set([own, ...below].flatMap((one) => Object.keys(one)));
        const sum = Object.fromEntries(
          [...llms].map((llm) => {
            const parts = [own, ...below].flatMap((one) => one[llm] ?? []);
            return [
              llm,
              {
                tokens: parts.reduce((all, part) => all + part.tokens, 0),
                picodollars: parts.reduce((all, part) => all + part.picodollars, 0),
                requests: parts.length,
              },
            ];
          }),
        );
        const total = Object.fromEntries(
          Object.entries(byLlm(sum)).map(([llm, usage]) => [llm, { ...usage, requests: sum[llm]!.requests }]),
        );
        const found = ownUsage(total, below.map(byLlm));
        expect(found).not.toBeNull();
        for (const [llm, { tokens, picodollars }] of Object.entries(own)) {
          expect(found![llm]!.total_tokens).toBe(tokens);
          expect(found![llm]!.prompt_tokens_total_cost).toBeCloseTo(picodollars / 1e12, 12);
        }
      }),
    );
  });

  it("is unknown where calls below share a completion", () => {
    const shared = usageOf("gpt-4o", 100, 0.1);
    expect(ownUsage(shared, [shared, shared])).toBeNull();
    expect(ownUsage(shared, [shared])).toEqual({});
    expect(ownUsage({}, [shared])).toBeNull();
  });
});
