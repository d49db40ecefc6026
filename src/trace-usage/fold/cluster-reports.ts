/** Report of a completion by a call; the completion id may not be unique. */
export interface Report {
  readonly call: number;
  readonly id: string;
  readonly startedAtUs: number;
  /** Infinity while the call runs. */
  readonly endedAtUs: number;
  readonly prompt: number;
  /** The prompt with cached tokens, even if `prompt` excludes them. */
  readonly input: number;
  readonly completion: number;
}

/** Counts of a report; 0 if unknown. */
type Counts = Pick<Report, "prompt" | "input" | "completion">;

/** Reports of one completion, and their combined counts. */
interface Cluster {
  readonly calls: number[];
  readonly startedAtUs: number;
  endedAtUs: number;
  counts: Counts;
}

const ANY = "*";

/**
 * Clusters reports of completions whose server reuses one id: reports of one completion overlap in time and have compatible
 * counts. A report that overlaps a cluster joins it. Cost: O(reports × log reports).
 */
export function clusterReports(reports: readonly Report[]): readonly (readonly number[])[] {
  const clusters: Cluster[] = [];
  /** The last cluster with these counts; earlier ones ended before it began. */
  const byCounts = new Map<string, Cluster>();
  for (const report of reports.toSorted(byStart)) {
    const open = matchesOf(report)
      .map((key) => byCounts.get(key))
      .find((cluster) => cluster !== undefined && overlaps(cluster, report) && agree(cluster.counts, report));
    const { startedAtUs, endedAtUs } = report;
    const cluster = open ?? { calls: [], startedAtUs, endedAtUs, counts: report };
    if (open === undefined) clusters.push(cluster);
    cluster.calls.push(report.call);
    cluster.endedAtUs = Math.max(cluster.endedAtUs, endedAtUs);
    cluster.counts = mergeCounts(cluster.counts, report);
    for (const key of keysOf(report)) byCounts.set(key, cluster);
  }
  return clusters.map((cluster) => cluster.calls);
}

function byStart(a: Report, b: Report): number {
  return a.startedAtUs - b.startedAtUs || b.endedAtUs - a.endedAtUs || (a.id < b.id ? -1 : 1);
}

/** Consecutive calls share an instant; two calls that begin and end in one instant overlap. */
function overlaps(cluster: Cluster, { startedAtUs }: Report): boolean {
  return startedAtUs < cluster.endedAtUs || startedAtUs === cluster.startedAtUs;
}

function agree(one: Counts, other: Counts): boolean {
  const prompts = [one.prompt, one.input];
  return (
    (one.completion === other.completion || one.completion === 0 || other.completion === 0) &&
    (one.input === 0 || other.input === 0 || prompts.includes(other.prompt) || prompts.includes(other.input))
  );
}

function mergeCounts(one: Counts, other: Counts): Counts {
  const { prompt, input } = one.input === 0 ? other : one;
  return { prompt, input, completion: one.completion || other.completion };
}

/** Keys of a report: both counts, and each count alone for reports that lack the other. */
function keysOf({ prompt, input, completion }: Report): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} ${ANY}`,
    `${ANY} ${completion}`,
  ]);
}

/** Keys of compatible counts: equal, or equal in one count if either side lacks the other. */
function matchesOf({ prompt, input, completion }: Report): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} 0`,
    `0 ${completion}`,
    ...(completion === 0 ? [`${tokens} ${ANY}`] : []),
    ...(tokens === 0 ? [`${ANY} ${completion}`] : []),
  ]);
}
