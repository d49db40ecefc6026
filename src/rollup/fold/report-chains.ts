/** What a call reports under an id that need not be unique. */
export interface Report {
  readonly call: number;
  /** The call's own. */
  readonly id: string;
  readonly startedAtUs: number;
  /** Infinity while the call runs. */
  readonly endedAtUs: number;
  readonly prompt: number;
  /** The prompt with cached tokens, also where `prompt` leaves them out. */
  readonly input: number;
  readonly completion: number;
}

/** What a report counts; 0 is not known. */
type Counts = Pick<Report, "prompt" | "input" | "completion">;

/** Reports of one completion, and what they count together. */
interface Chain {
  readonly calls: number[];
  readonly startedAtUs: number;
  endedAtUs: number;
  counts: Counts;
}

const ANY = "*";

/**
 * Tells apart the completions behind one id that a server uses again: reports of one completion overlap in time, and do not contradict
 * each other in their counts. A report that overlaps a chain joins it. Cost: O(reports × log reports).
 */
export function chainsOf(reports: readonly Report[]): readonly (readonly number[])[] {
  const chains: Chain[] = [];
  /** The last chain with these counts: one before it has ended before that one began. */
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

function byStart(a: Report, b: Report): number {
  return a.startedAtUs - b.startedAtUs || b.endedAtUs - a.endedAtUs || (a.id < b.id ? -1 : 1);
}

/** Calls that follow each other touch at an instant; two that are over in one instant are at the same time. */
function overlaps(chain: Chain, { startedAtUs }: Report): boolean {
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

/** A report is found by its counts, and by each of them for one that lacks the other. */
function keysOf({ prompt, input, completion }: Report): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} ${ANY}`,
    `${ANY} ${completion}`,
  ]);
}

/** Counts that do not contradict a report: its own, or one of them where the other is missing, on either side. */
function matchesOf({ prompt, input, completion }: Report): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} 0`,
    `0 ${completion}`,
    ...(completion === 0 ? [`${tokens} ${ANY}`] : []),
    ...(tokens === 0 ? [`${ANY} ${completion}`] : []),
  ]);
}
