import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  callAt,
  childrenOf,
  countOf,
  extentOf,
  idAt,
  positionOf,
  type TraceCall,
} from "../../../web/trace/tree/call-tree.ts";
import { costliestCall, matchesIn, nextOf } from "../../../web/trace/tree/find.ts";
import { treeUsageOf } from "../../../web/trace/tree/tree-usage.ts";
import {
  indexOfKey,
  openedFor,
  rowAbove,
  rowAt,
  rowBelow,
  rowsOf,
  type ExpandedState,
} from "../../../web/trace/tree/rows.ts";
import { NOT_FOUND } from "../../../web/trace/tree/text-column.ts";
import { treeOf } from "../../../web/trace/tree/tree-of.ts";
import { usageColumnsOf } from "../../../web/trace/tree/usage-columns.ts";
import * as objects from "./object-tree.ts";
import { usageOf } from "./usage-of.ts";
import { runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const seed = chosenSeed();
const seeded = { seed, numRuns: runs(100, 3000) };

function call(id: string, parentId: string | null, more: Partial<TraceCall> = {}): TraceCall {
  return { id, parentId, name: id, startMs: 0, endMs: 1, exception: null, ...more };
}

/** Calls of any shape, oldest first: chains, stars, circles, parents that are not there, ids of prototypes, and of other scripts. */
const forests = fc
  .array(
    fc.record({
      parent: fc.option(fc.oneof(fc.nat(4), fc.nat(40)), { freq: 6 }),
      name: fc.constantFrom("a", "b", "Ä", ""),
      startMs: fc.nat(5),
      tookMs: fc.option(fc.nat(9)),
      exception: fc.option(fc.constantFrom("Error", "Late")),
    }),
    { maxLength: 36 },
  )
  .map((calls) =>
    calls
      .map(({ parent, name, startMs, tookMs, exception }, at) =>
        call(idOf(at), parent === null ? null : idOf(parent), {
          name,
          startMs,
          endMs: tookMs === null ? null : startMs + tookMs - 1,
          exception,
        }),
      )
      .toSorted((a, b) => a.startMs - b.startMs || (a.id < b.id ? -1 : 1)),
  );

function idOf(at: number): string {
  return ["__proto__", "constructor", "toString", "a\nb", "\u{1F600}"][at] ?? `c${at}`;
}

/** A forest, and what somebody folded in it: keys of rows, and of nothing. */
const folded = fc
  .record({ calls: forests, groupsOpen: fc.boolean(), picks: fc.array(fc.nat(60), { maxLength: 8 }) })
  .map(({ calls, groupsOpen, picks }) => {
    const roots = objects.treeOf(calls);
    const keys = objects.rowsOf(roots, { changed: new Set(), groupsOpen: true }).map(({ key }) => key);
    const changed = new Set(picks.map((pick) => keys[pick] ?? `nothing-${pick}`));
    return { calls, roots, folding: { changed, groupsOpen } satisfies ExpandedState };
  });

function shown(calls: readonly TraceCall[], folding: ExpandedState) {
  const tree = treeOf(calls);
  return { tree, rows: rowsOf(tree, folding) };
}

/** Formats a line of the object tree as the columns do. */
function lineOf(row: objects.Row): object {
  const { key, depth, open } = row;
  const { call, calls, errors } = row.kind === "call" ? row.node : row.group.nodes[0]!;
  const { parentId: _parentId, ...more } = call;
  const line = { key, depth, open, call: { ...more, calls, errors } };
  if (row.kind === "call") return { ...line, group: undefined };
  const { nodes, failed, endMs } = row.group;
  return { ...line, group: { failed, endMs, members: nodes.map((node) => node.call.id) } };
}

function lineAt({ tree, rows }: ReturnType<typeof shown>, index: number): object {
  const { call, group, ...row } = rowAt(tree, rows, index)!;
  const { position: _position, ...more } = call;
  if (group === undefined) return { ...row, call: more, group };
  const { failed, endMs, members } = group;
  return {
    ...row,
    call: more,
    group: { failed, endMs, members: Array.from(members, (position) => idAt(tree, position)) },
  };
}

describe("the tree in columns", () => {
  it("has the lines of the object tree, folded in any way", () => {
    fc.assert(
      fc.property(folded, ({ calls, roots, folding }) => {
        const columns = shown(calls, folding);
        const expected = objects.rowsOf(roots, folding);
        const lines = Array.from(columns.rows.lines, (_, index) => lineAt(columns, index));
        expect(lines).toEqual(expected.map(lineOf));
        expect(rowAt(columns.tree, columns.rows, lines.length)).toBeUndefined();
      }),
      seeded,
    );
  });

  it("contains all calls from top to bottom, each with its parent, and finds them by id", () => {
    fc.assert(
      fc.property(forests, (calls) => {
        const tree = treeOf(calls);
        const nodes = [...objects.inOrder(objects.treeOf(calls))];
        expect(Array.from(tree.calls, (_, position) => idAt(tree, position))).toEqual(
          nodes.map((node) => node.call.id),
        );
        for (const [position, node] of nodes.entries()) {
          expect(positionOf(tree, node.call.id)).toBe(position);
          for (const child of node.children)
            expect(tree.parents[positionOf(tree, child.call.id)]).toBe(position);
        }
        expect(positionOf(tree, "not there")).toBe(NOT_FOUND);
      }),
      seeded,
    );
  });

  it("uses the first of several calls with one id", () => {
    const tree = treeOf([call("a", null), call("b", "a"), call("a", "b", { startMs: 3 })]);
    expect(Array.from(tree.parents)).toEqual([NOT_FOUND, 0]);
    expect(callAt(tree, 0)).toMatchObject({ id: "a", startMs: 0, calls: 2 });
  });

  it("supports a chain of 100,000 calls without stack overflow, and a star of as many", () => {
    const chain = Array.from({ length: 100_000 }, (_, at) => call(`c${at}`, at === 0 ? null : `c${at - 1}`));
    const star = Array.from({ length: 100_000 }, (_, at) =>
      call(`c${at}`, at === 0 ? null : "c0", { name: "n" }),
    );
    for (const calls of [chain, star]) {
      const { tree, rows } = shown(calls, { changed: new Set(), groupsOpen: true });
      expect(tree.calls[0]).toBe(100_000);
      expect(rows.lines.length).toBe(100_000 + tree.groups.ends.length);
    }
  });

  it("spans from its start to its end; running calls end now", () => {
    const tree = treeOf([
      call("a", null, { startMs: 5, endMs: 9 }),
      call("b", "a", { startMs: 6, endMs: null }),
    ]);
    expect(extentOf(tree, 20)).toEqual({ fromMs: 5, toMs: 20 });
    expect(extentOf(tree, 1)).toEqual({ fromMs: 5, toMs: 9 });
    expect(extentOf(treeOf([]), 7)).toEqual({ fromMs: 7, toMs: 7 });
  });
});

describe("the rows", () => {
  it("are found by their keys", () => {
    fc.assert(
      fc.property(folded, ({ calls, folding }) => {
        const { tree, rows } = shown(calls, folding);
        for (let index = 0; index < rows.lines.length; index++)
          expect(indexOfKey(tree, rows, rowAt(tree, rows, index)!.key)).toBe(index);
        expect(indexOfKey(tree, rows, "not there")).toBe(-1);
        expect(indexOfKey(tree, rows, undefined)).toBe(-1);
      }),
      seeded,
    );
  });

  it("reveal a call by opening its ancestors, and hide none for it", () => {
    fc.assert(
      fc.property(folded, fc.nat(), ({ calls, folding }, pick) => {
        const wanted = calls[pick % Math.max(1, calls.length)];
        if (wanted === undefined) return;
        const before = shown(calls, folding);
        const { tree } = before;
        const changed = openedFor(tree, positionOf(tree, wanted.id), folding);
        const { rows } = shown(calls, { ...folding, changed });
        expect(indexOfKey(tree, rows, wanted.id)).toBeGreaterThanOrEqual(0);
        for (let index = 0; index < before.rows.lines.length; index++)
          expect(indexOfKey(tree, rows, rowAt(tree, before.rows, index)!.key)).toBeGreaterThanOrEqual(0);
      }),
      seeded,
    );
  });
});

describe("navigation", () => {
  it("counts the failures below folded siblings", () => {
    const calls = [0, 1, 2, 3].flatMap((at) => [
      call(`step-${at}`, "root", { name: "step" }),
      call(`tool-${at}`, `step-${at}`, { exception: at % 2 === 0 ? "Error" : null }),
    ]);
    const tree = shown([call("root", null), ...calls], { changed: new Set(), groupsOpen: false });
    const row = rowAt(tree.tree, tree.rows, 1);
    expect(row).toMatchObject({ call: { name: "step" }, group: { failed: 2 } });
  });

  it("goes to the next failed call, from the last one to the first", () => {
    fc.assert(
      fc.property(forests, (calls) => {
        const tree = treeOf(calls);
        const isFailed = (at: number): boolean => callAt(tree, at).exception !== null;
        const failed = Array.from({ length: countOf(tree) }, (_, at) => at).filter(isFailed);
        for (let position = NOT_FOUND; position < countOf(tree); position++)
          expect(nextOf(tree, position, isFailed)).toBe(
            failed.find((at) => at > position) ?? failed[0] ?? NOT_FOUND,
          );
      }),
      seeded,
    );
  });

  it("finds calls by a part of their name, in any case, or by their complete id", () => {
    fc.assert(
      fc.property(forests, fc.constantFrom("a", "A", "ä", "c", "c7", "__proto__", ""), (calls, find) => {
        const tree = treeOf(calls);
        const matches = matchesIn(tree, find);
        const wanted = calls.filter(
          ({ id, name }) => find !== "" && (id === find || name.toLowerCase().includes(find.toLowerCase())),
        );
        expect(matches.count).toBe(wanted.length);
        for (const { id } of calls)
          expect(matches.has(positionOf(tree, id))).toBe(wanted.some((one) => one.id === id));
      }),
      seeded,
    );
  });

  it("goes from a row to its first child, and to its parent", () => {
    const calls = [call("root", null), call("agent", "root"), call("model", "agent"), call("tool", "root")];
    const { rows } = shown(calls, { changed: new Set(), groupsOpen: false });
    expect([0, 1, 2, 3].map((index) => rowBelow(rows, index))).toEqual([1, 2, 2, 3]);
    expect([0, 1, 2, 3].map((index) => rowAbove(rows, index))).toEqual([0, 0, 1, 0]);
  });

  /** The costliest call of a trace by parent and own cost of each call, among these and everything below them. */
  function costliestOf(
    calls: Readonly<Record<string, readonly [parent: string | null, usd: number | null]>>,
    ...tops: readonly string[]
  ): string | undefined {
    const tree = treeOf(Object.entries(calls).map(([id, [parent]]) => call(id, parent)));
    const ids = Array.from(tree.calls, (_, position) => idAt(tree, position));
    const owns = Object.fromEntries(
      Object.entries(calls).map(([id, [, usd]]) => [id, usd === 0 ? {} : usageOf("m", 1, usd)]),
    );
    const columns = usageColumnsOf(owns, ids);
    const found = costliestCall(
      tree,
      tops.length === 0 ? childrenOf(tree, NOT_FOUND) : tops.map((id) => positionOf(tree, id)),
      treeUsageOf(tree, columns, columns),
    );
    return found === NOT_FOUND ? undefined : idAt(tree, found);
  }

  it("goes to the call with the largest own cost, in all or below some calls", () => {
    const steps = Array.from({ length: 10 }, (_, at) => [`step-${at}`, ["agent", 0.5]] as const);
    const trace = { root: [null, 0], agent: ["root", 0], single: ["root", 4] } as const;
    const beside = { ...trace, ...Object.fromEntries(steps) };
    expect(costliestOf(beside)).toBe("single");
    expect(costliestOf(beside, "agent")).toBe("step-0");
    expect(costliestOf(beside, "step-3", "step-4")).toBe("step-3");
    expect(costliestOf({ first: [null, 0.1], second: [null, 9] })).toBe("second");
    expect(costliestOf({ root: [null, 0], model: ["root", null] })).toBeUndefined();
  });
});
