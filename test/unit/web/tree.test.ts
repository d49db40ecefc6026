import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openedFor, rowsOf, type Folding } from "../../../web/trace/rows.ts";
import type { TraceCall } from "../../../web/trace/trace-call.ts";
import { treeOf, type TreeNode } from "../../../web/trace/tree.ts";
import { dearestBelow, inOrder, nextOf } from "../../../web/trace/walk.ts";
import { ledgerOf } from "../../../web/trace/ledger.ts";
import { usageOf } from "./usage-of.ts";

function call(id: string, parentId: string | null, more: Partial<TraceCall> = {}): TraceCall {
  return { id, parentId, name: id, startMs: 0, endMs: 1, exception: null, ...more };
}

/** Calls of any shape: chains, stars, circles, parents that are not there, ids of prototypes. */
const forests = fc
  .array(
    fc.record({
      parent: fc.option(fc.nat(30)),
      name: fc.constantFrom("a", "b"),
      startMs: fc.nat(5),
      failed: fc.boolean(),
    }),
    { maxLength: 24 },
  )
  .map((calls) =>
    calls.map(({ parent, name, startMs, failed }, at) =>
      call(idOf(at), parent === null ? null : idOf(parent), {
        name,
        startMs,
        exception: failed ? "Error" : null,
      }),
    ),
  );

function idOf(at: number): string {
  return ["__proto__", "constructor", "toString"][at] ?? `c${at}`;
}

const OPEN: Folding = { changed: new Set(), groupsOpen: true };

function nodesIn(roots: readonly TreeNode[]): readonly TreeNode[] {
  return [...inOrder(roots)];
}

describe("the tree", () => {
  it("has every call once, under its parent unless that is cut", () => {
    fc.assert(
      fc.property(forests, (calls) => {
        const nodes = nodesIn(treeOf(calls));
        expect(nodes.map((node) => node.call.id).toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
        for (const node of nodes)
          for (const child of node.children) {
            expect(child.call.parentId).toBe(node.call.id);
            expect(child.depth).toBe(node.depth + 1);
          }
      }),
    );
  });

  it("counts what is below", () => {
    fc.assert(
      fc.property(forests, (calls) => {
        for (const node of nodesIn(treeOf(calls))) {
          const below = nodesIn([node]);
          expect(node.calls).toBe(below.length);
          expect(node.errors).toBe(below.filter((one) => one.call.exception !== null).length);
        }
      }),
    );
  });

  it("is a chain of a hundred thousand without a stack that overflows", () => {
    const calls = Array.from({ length: 100_000 }, (_, at) => call(`c${at}`, at === 0 ? null : `c${at - 1}`));
    const roots = treeOf(calls);
    expect(roots.map((root) => root.calls)).toEqual([100_000]);
    expect(rowsOf(roots, OPEN)).toHaveLength(100_000);
  });
});

describe("the rows", () => {
  it("have every call once when everything is open, each after what it hangs on", () => {
    fc.assert(
      fc.property(forests, (calls) => {
        const rows = rowsOf(treeOf(calls), OPEN).filter((row) => row.kind === "call");
        expect(rows.map(({ key }) => key).toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
        const place = new Map(rows.map(({ key }, at) => [key, at]));
        for (const { node } of rows)
          for (const child of node.children)
            expect(place.get(child.call.id)).toBeGreaterThan(place.get(node.call.id)!);
      }),
    );
  });

  it("show like siblings in one line, with how many they are, where the first of them stands", () => {
    const search = Array.from({ length: 12 }, (_, at) =>
      call(`s${at}`, "root", { name: "search", startMs: at }),
    );
    const roots = treeOf([call("root", null), call("plan", "root", { startMs: 3 }), ...search]);
    const rows = rowsOf(roots, { changed: new Set(), groupsOpen: false });
    expect(
      rows.map((row) => (row.kind === "group" ? `${row.group.name} ×${row.group.nodes.length}` : row.key)),
    ).toEqual(["root", "search ×12", "plan"]);
  });

  it("show any call once what hides it is open", () => {
    const cases = fc.tuple(forests, fc.nat(), fc.boolean(), fc.array(fc.nat(24)));
    fc.assert(
      fc.property(cases, ([calls, pick, groupsOpen, folded]) => {
        const wanted = calls[pick % Math.max(1, calls.length)];
        if (wanted === undefined) return;
        const roots = treeOf(calls);
        const keys = rowsOf(roots, { changed: new Set(), groupsOpen }).map(({ key }) => key);
        const folding = { changed: new Set(folded.flatMap((at) => keys[at] ?? [])), groupsOpen };
        const opened = { ...folding, changed: openedFor(wanted, roots, folding) };
        expect(rowsOf(roots, opened).map(({ key }) => key)).toContain(wanted.id);
      }),
    );
  });
});

describe("walking", () => {
  it("goes to the next error, and from the last one to the first", () => {
    const calls = ["a", "b", "c", "d"].map((id, at) =>
      call(id, at === 0 ? null : "a", { startMs: at, exception: id === "b" || id === "d" ? "Error" : null }),
    );
    const failed = (node: TreeNode): boolean => node.call.exception !== null;
    const roots = treeOf(calls);
    const steps = ["a", "b", "d"].map((from) => nextOf(roots, from, failed)?.call.id);
    expect(steps).toEqual(["b", "d", "b"]);
    expect(nextOf(roots, "a", () => false)).toBeUndefined();
  });

  it("goes down to the one call that made the bill", () => {
    const roots = treeOf([
      call("root", null),
      call("cheap", "root"),
      call("agent", "root"),
      call("model", "agent"),
      call("tool", "agent"),
    ]);
    const leaves = { cheap: usageOf("m", 10, 0.1), model: usageOf("m", 80, 0.8), tool: {} };
    const ledger = ledgerOf(
      { root: usageOf("m", 100, 1), agent: usageOf("m", 90, 0.9), ...leaves },
      { agent: usageOf("m", 10, 0.1), ...leaves },
    );
    expect(dearestBelow(roots[0]!, ledger).call.id).toBe("model");
    expect(dearestBelow(roots[0]!, ledgerOf({}, {})).call.id).toBe("root");
  });
});
