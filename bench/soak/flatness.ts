import type { Sample } from "./sample.ts";

export interface Trend {
  readonly what: string;
  readonly before: number;
  readonly after: number;
  /** The most that `after` may be. */
  readonly limit: number;
}

/**
 * The limit for one figure between the third and the last quarter of the samples. The first half is warm-up: until then
 * threads are started and the calls that started last, 100,000 of them, are being gathered in memory.
 */
interface Rule {
  readonly what: string;
  readonly figure: keyof Sample;
  readonly of: (values: readonly number[]) => number;
  /** Whichever is more. */
  readonly mayGrowBy: { readonly share: number; readonly least: number };
}

const rules: readonly Rule[] = [
  {
    what: "resident memory, median, MiB",
    figure: "residentMiB",
    of: median,
    mayGrowBy: { share: 0.07, least: 30 },
  },
  { what: "JS heap, median, MiB", figure: "heapMiB", of: median, mayGrowBy: { share: 0.07, least: 4 } },
  {
    what: "buffers beside it, median, MiB",
    figure: "externalMiB",
    of: median,
    mayGrowBy: { share: 0.1, least: 5 },
  },
  { what: "open files, median", figure: "openFiles", of: median, mayGrowBy: { share: 0.1, least: 30 } },
];

export function trendsOf(samples: readonly Sample[]): readonly Trend[] {
  const quarter = Math.floor(samples.length / 4);
  const third = samples.slice(-2 * quarter, -quarter);
  const last = samples.slice(-quarter);
  return rules.map(({ what, figure, of, mayGrowBy }) => {
    const before = of(third.map((sample) => sample[figure]));
    const after = of(last.map((sample) => sample[figure]));
    return { what, before, after, limit: before + Math.max(before * mayGrowBy.share, mayGrowBy.least) };
  });
}

export function isFlat({ after, limit }: Trend): boolean {
  return after <= limit;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
