import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, sumOf, type Total, type UsageByLlm } from "../../../web/format/usage.ts";
import { positionOf } from "../../../web/trace/tree/call-tree.ts";
import { treeUsageOf } from "../../../web/trace/tree/tree-usage.ts";
import { treeOf } from "../../../web/trace/tree/tree-of.ts";
import { usageColumnsOf } from "../../../web/trace/tree/usage-columns.ts";
import * as objects from "./object-tree.ts";
import { usageOf } from "./usage-of.ts";
import { runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

function totalsOf(usage: UsageByLlm): readonly Total[] {
  return Object.entries(usage).map(([llm, one]) => ({
    tokens: one.total_tokens,
    usd: costOf(one),
    unpriced: one.partial === true ? [llm] : [],
  }));
}

const totalOf = (usage: UsageByLlm): Total => sumOf(totalsOf(usage));

describe("a total", () => {
  it("is unknown if nothing has a price, and a lower bound if something has", () => {
    const priced = usageOf("gpt-4o", 100, 0.5);
    const unpriced = usageOf("acme-7b", 50, null);
    expect(totalOf(unpriced)).toMatchObject({ tokens: 50, usd: null, unpriced: ["acme-7b"] });
    expect(totalOf({ ...priced, ...unpriced })).toMatchObject({
      tokens: 150,
      usd: 0.5,
      unpriced: ["acme-7b"],
    });
    expect(totalOf({})).toMatchObject({ tokens: 0, usd: 0, unpriced: [] });
  });
});

const seed = chosenSeed();

describe("a sum of costs", () => {
  it("is exact to the picodollar, for any number of costs", () => {
    const usages = fc.array(fc.nat(1e9), { maxLength: 200 });
    fc.assert(
      fc.property(usages, (picodollars) => {
        const all = picodollars.map((cost) => usageOf("m", 1, cost / 1e12));
        const exact = picodollars.reduce((sum, cost) => sum + cost, 0) / 1e12;
        expect(sumOf(all.map(totalOf)).usd).toBe(exact);
      }),
      { seed },
    );
  });
});

/** Usage of calls at random: several LLMs, some without a price, names of prototypes. */
const usages = fc.array(
  fc.dictionary(
    fc.constantFrom("gpt-4o", "acme-7b", "__proto__", "toString"),
    fc.record({ tokens: fc.nat(1000), picodollars: fc.option(fc.nat(1e9)) }),
    { maxKeys: 3 },
  ),
  { minLength: 1, maxLength: 30 },
);

describe("usage of calls, in columns", () => {
  it("is the service's usage of each call, and for groups the sum of what each call adds", () => {
    fc.assert(
      fc.property(usages, usages, fc.array(fc.nat(30), { minLength: 30 }), (totals, owns, parents) => {
        const calls = parents.map((parent, at) => ({
          id: `c${at}`,
          parentId: parent < at ? `c${parent}` : null,
          name: "search",
          startMs: at,
          endMs: at + 1,
          exception: null,
        }));
        const tree = treeOf(calls);
        const roots = objects.treeOf(calls);
        const nodes = [...objects.inOrder(roots)];
        const [total, own] = [totals, owns].map(byId);
        const ids = nodes.map(({ call }) => call.id);
        const treeUsage = treeUsageOf(tree, usageColumnsOf(total!, ids), usageColumnsOf(own!, ids));
        const sum = (below: readonly objects.TreeNode[]) =>
          sumOf([...objects.inOrder(below)].flatMap(({ call }) => totalsOf(own![call.id] ?? {})));
        for (const [position, { call }] of nodes.entries()) {
          expect(treeUsage.total(position)).toEqual(totalOf(total![call.id] ?? {}));
          expect(treeUsage.own(position)).toEqual(totalOf(own![call.id] ?? {}));
        }
        for (const row of objects.rowsOf(roots, { changed: new Set(), groupsOpen: true })) {
          if (row.kind === "call") continue;
          const position = tree.groups.ofCalls[positionOf(tree, row.group.nodes[0]!.call.id)]!;
          expect(treeUsage.group(position)).toEqual(sum(row.group.nodes));
        }
        expect(treeUsage.all).toEqual(roots.length === 1 ? treeUsage.total(0) : sum(roots));
      }),
      { seed, numRuns: runs(100, 3000) },
    );
  });

  it("counts a completion once if equal siblings report it", () => {
    const call = (id: string, parentId: string | null) => ({
      id,
      parentId,
      name: "search",
      startMs: 0,
      endMs: 1,
      exception: null,
    });
    const ids = ["root", "a", "b", "c", "d"];
    const tree = treeOf(ids.map((id) => call(id, id === "root" ? null : "root")));
    const shared = usageOf("gpt-4o", 100, 0.5);
    const totals = usageColumnsOf({ root: shared, a: shared, b: shared }, ids);
    const treeUsage = treeUsageOf(tree, totals, usageColumnsOf({ root: {}, a: shared, b: {} }, ids));
    expect(treeUsage.group(0)).toMatchObject({ tokens: 100, usd: 0.5 });
    expect(ids.map((_, position) => treeUsage.own(position).tokens)).toEqual([0, 100, 0, 0, 0]);
    expect(ids.map((_, position) => treeUsage.total(position).tokens)).toEqual([100, 100, 100, 0, 0]);
  });
});

type Figures = Readonly<Record<string, { readonly tokens: number; readonly picodollars: number | null }>>;

/** Returns the usage of every call but each third one. */
function byId(usages: readonly Figures[]): Record<string, UsageByLlm> {
  return Object.fromEntries(
    usages.map((byLlm, at) => [
      `c${at + Math.floor(at / 2)}`,
      Object.fromEntries(
        Object.entries(byLlm).flatMap(([llm, { tokens, picodollars }]) =>
          Object.entries(usageOf(llm, tokens, picodollars === null ? null : picodollars / 1e12)),
        ),
      ),
    ]),
  );
}
