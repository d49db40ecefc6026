import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterReports, type Report } from "../../../../src/trace-usage/fold/cluster-reports.ts";

type Draft = readonly [start: number, end: number, prompt: number, completion: number];

function reportsOf(drafts: readonly Draft[]): Report[] {
  return drafts.map(([startedAtUs, endedAtUs, prompt, completion], call) => ({
    call,
    id: `c${call}`,
    startedAtUs,
    endedAtUs,
    prompt,
    input: prompt,
    completion,
  }));
}

const chains = (...drafts: Draft[]) => clusterReports(reportsOf(drafts));
const NEVER = Number.POSITIVE_INFINITY;

describe("records of a repeated id are one completion", () => {
  it("when one runs within the other", () => {
    expect(chains([0, 10, 7, 2], [1, 9, 7, 2], [2, 8, 7, 2])).toEqual([[0, 1, 2]]);
  });

  it("when each overlaps the one before it", () => {
    expect(chains([0, 10, 7, 2], [9, 20, 7, 2], [19, 30, 7, 2])).toEqual([[0, 1, 2]]);
  });

  it("when one of them has not ended, or lacks a count", () => {
    expect(chains([0, NEVER, 7, 2], [50, 60, 7, 2])).toEqual([[0, 1]]);
    expect(chains([0, 10, 7, 0], [5, 9, 7, 2])).toEqual([[0, 1]]);
    expect(chains([0, 10, 0, 2], [5, 9, 7, 2])).toEqual([[0, 1]]);
  });

  it("when one includes cached tokens in the prompt and the other does not", () => {
    const [within, beside] = reportsOf([
      [0, 10, 100, 2],
      [1, 9, 60, 2],
    ]);
    expect(clusterReports([within!, { ...beside!, input: 100 }])).toEqual([[0, 1]]);
  });

  it("when both begin and end in one instant", () => {
    expect(chains([5, 5, 7, 2], [5, 5, 7, 2])).toEqual([[0, 1]]);
  });
});

describe("records of a repeated id are several completions", () => {
  it("when one begins as the other ends", () => {
    expect(chains([0, 10, 7, 2], [10, 20, 7, 2], [20, 30, 7, 2])).toEqual([[0], [1], [2]]);
  });

  it("when their counts contradict each other, even if a third lacks one", () => {
    expect(chains([0, 10, 7, 2], [1, 9, 8, 2])).toEqual([[0], [1]]);
    expect(chains([0, 10, 7, 2], [1, 9, 0, 2], [2, 8, 8, 2])).toEqual([[0, 1], [2]]);
  });

  it("when two run at the same time, each with its own counts", () => {
    expect(chains([0, 10, 7, 2], [0, 10, 8, 3], [1, 9, 7, 2], [1, 9, 8, 3])).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });
});

describe("clusters of any records", () => {
  const drafts = fc.array(
    fc
      .tuple(fc.nat(50), fc.nat(12), fc.nat(2), fc.nat(2))
      .map(([start, took, prompt, completion]): Draft => [start, start + took, prompt, completion]),
    { maxLength: 14 },
  );

  it("contain each record once, without contradictions, connected in time", () => {
    fc.assert(
      fc.property(drafts, (some) => {
        const reports = reportsOf(some);
        const found = clusterReports(reports);
        expect(found.flat().toSorted((a, b) => a - b)).toEqual(reports.map(({ call }) => call));
        for (const chain of found) {
          const inOrder = chain.map((call) => reports[call]!);
          let end = inOrder[0]!.endedAtUs;
          for (const one of inOrder) {
            expect(one.startedAtUs <= end).toBe(true);
            end = Math.max(end, one.endedAtUs);
            for (const other of inOrder) {
              expect(one.prompt * other.prompt === 0 || one.prompt === other.prompt).toBe(true);
              expect(one.completion * other.completion === 0 || one.completion === other.completion).toBe(
                true,
              );
            }
          }
        }
      }),
    );
  });

  it("are the same in any order", () => {
    fc.assert(
      fc.property(
        drafts.chain((some) =>
          fc.tuple(
            fc.constant(some),
            fc.shuffledSubarray(
              some.map((_, call) => call),
              { minLength: some.length },
            ),
          ),
        ),
        ([some, order]) => {
          const reports = reportsOf(some);
          const shuffled = order.map((call) => reports[call]!);
          expect(clusterReports(shuffled)).toEqual(clusterReports(reports));
        },
      ),
    );
  });
});
