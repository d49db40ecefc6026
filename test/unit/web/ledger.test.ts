import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sumOf, sumOfUsages, totalOf, type UsageByLlm } from "../../../web/numbers/usage.ts";
import { ledgerOf } from "../../../web/trace/ledger.ts";
import { rateOf, sumOfLines } from "../../../web/trace/receipt-lines.ts";
import { treeOf } from "../../../web/trace/tree.ts";
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

const seed = Number(process.env["PROPERTY_SEED"] ?? 20261122);

describe("a sum of costs", () => {
  it("is exact to the picodollar, however many there are", () => {
    const usages = fc.array(fc.nat(1e9), { maxLength: 200 });
    fc.assert(
      fc.property(usages, (picodollars) => {
        const all: readonly UsageByLlm[] = picodollars.map((cost) => usageOf("m", 1, cost / 1e12));
        const exact = picodollars.reduce((sum, cost) => sum + cost, 0) / 1e12;
        expect(sumOfUsages(all).usd).toBe(exact);
        expect(sumOf(all.map(totalOf)).usd).toBe(exact);
      }),
      { seed },
    );
  });
});

describe("like siblings", () => {
  it("that tell of one completion are summed up by what each adds, not by their totals", () => {
    const call = (id: string, parentId: string | null) => ({
      id,
      parentId,
      name: "search",
      startMs: 0,
      endMs: 1,
      exception: null,
    });
    const [root] = treeOf([call("root", null), call("a", "root"), call("b", "root")]);
    const shared = usageOf("gpt-4o", 100, 0.5);
    const ledger = ledgerOf({ root: shared, a: shared, b: shared }, { root: {}, a: shared, b: {} });
    expect(ledger.sum(root!.children)).toMatchObject({ tokens: 100, usd: 0.5 });
    expect(root!.children.map((node) => ledger.own(node).tokens)).toEqual([100, 0]);
    expect(root!.children.map((node) => ledger.total(node).tokens)).toEqual([100, 100]);
  });
});

describe("the lines of a receipt", () => {
  it("sum up, and say which models they leave out", () => {
    const line = { llm: "gpt-4o", quantity: 1, amount_usd: 0.1 };
    const unpriced = { llm: "acme-7b", quantity: 1, amount_usd: null };
    expect(sumOfLines([line, { ...line, amount_usd: 0.2 }], "amount_usd")).toMatchObject({
      usd: 0.3,
      unpriced: [],
    });
    expect(sumOfLines([line, unpriced, unpriced], "amount_usd")).toMatchObject({
      usd: 0.1,
      unpriced: ["acme-7b"],
    });
    expect(sumOfLines([unpriced], "amount_usd")).toMatchObject({ usd: null, unpriced: ["acme-7b"] });
    expect(sumOfLines([], "amount_usd")).toMatchObject({ usd: 0, unpriced: [] });
  });

  it("have rates by the million for tokens, and by the piece for the rest", () => {
    expect(rateOf({ unit: "completion_tokens", rate_usd: 0.00001 })).toBe("$10.00 / M");
    expect(rateOf({ unit: "cache_read_input_tokens", rate_usd: 1.25e-7 })).toBe("$0.125 / M");
    expect(rateOf({ unit: "web_searches", rate_usd: 0.01 })).toBe("$0.0100 each");
  });
});
