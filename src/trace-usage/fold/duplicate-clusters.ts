/** A call's report of a completion whose id may not be unique. */
export interface DuplicateRecord {
  readonly call: number;
  /** The call's number. */
  readonly id: string;
  readonly startedAtUs: number;
  /** Infinity while the call runs. */
  readonly endedAtUs: number;
  readonly prompt: number;
  /** The prompt with cached tokens, even if `prompt` excludes them. */
  readonly input: number;
  readonly completion: number;
}

/** The counts of a report; 0: unknown. */
type Counts = Pick<DuplicateRecord, "prompt" | "input" | "completion">;

/** Reports of one completion, and their combined counts. */
interface Chain {
  readonly calls: number[];
  readonly startedAtUs: number;
  endedAtUs: number;
  counts: Counts;
}

const ANY = "*";

/**
 * Distinguishes completions whose server reuses one id: reports of one completion overlap in time and have compatible
 * counts. A report that overlaps a chain joins it. Cost: O(reports × log reports).
 */
export function clusterDuplicates(reports: readonly DuplicateRecord[]): readonly (readonly number[])[] {
  const chains: Chain[] = [];
  /** The last chain with these counts: each earlier one ended before it began. */
  const byCounts = new Map<string, Chain>();
  for (const report of reports.toSorted(byStart)) {
    const open = matchesOf(report)
      .map((key) => byCounts.get(key))
      .find((chain) => chain !== undefined && overlaps(chain, report) && agree(chain.counts, report));
    const { startedAtUs, endedAtUs } = report;
    const chain = open ?? { calls: [], startedAtUs, endedAtUs, counts: report };
    if (open === undefined) chains.push(chain);
    chain.calls.push(report.call);
    chain.endedAtUs = Math.max(chain.endedAtUs, endedAtUs);
    chain.counts = together(chain.counts, report);
    for (const key of keysOf(report)) byCounts.set(key, chain);
  }
  return chains.map((chain) => chain.calls);
}

function byStart(a: DuplicateRecord, b: DuplicateRecord): number {
  return a.startedAtUs - b.startedAtUs || b.endedAtUs - a.endedAtUs || (a.id < b.id ? -1 : 1);
}

/** Consecutive calls share an instant; two calls that begin and end in one instant overlap. */
function overlaps(chain: Chain, { startedAtUs }: DuplicateRecord): boolean {
  return startedAtUs < chain.endedAtUs || startedAtUs === chain.startedAtUs;
}

function agree(one: Counts, other: Counts): boolean {
  const prompts = [one.prompt, one.input];
  return (
    (one.completion === other.completion || one.completion === 0 || other.completion === 0) &&
    (one.input === 0 || other.input === 0 || prompts.includes(other.prompt) || prompts.includes(other.input))
  );
}

function together(one: Counts, other: Counts): Counts {
  const { prompt, input } = one.input === 0 ? other : one;
  return { prompt, input, completion: one.completion || other.completion };
}

/** The keys of a report: both counts, and each count alone for reports that lack the other. */
function keysOf({ prompt, input, completion }: DuplicateRecord): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} ${ANY}`,
    `${ANY} ${completion}`,
  ]);
}

/** Counts compatible with a report's: equal, or equal in one count if either side lacks the other. */
function matchesOf({ prompt, input, completion }: DuplicateRecord): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} 0`,
    `0 ${completion}`,
    ...(completion === 0 ? [`${tokens} ${ANY}`] : []),
    ...(tokens === 0 ? [`${ANY} ${completion}`] : []),
  ]);
}
