/** Record of a completion by a call; its id may not be unique. */
export interface DuplicateRecord {
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

/** Counts of a record; 0 if unknown. */
type Counts = Pick<DuplicateRecord, "prompt" | "input" | "completion">;

/** Records of one completion, and their combined counts. */
interface Cluster {
  readonly calls: number[];
  readonly startedAtUs: number;
  endedAtUs: number;
  counts: Counts;
}

const ANY = "*";

/**
 * Clusters records of completions whose server reuses one id: records of one completion overlap in time and have compatible
 * counts. A record that overlaps a cluster joins it. Cost: O(records × log records).
 */
export function clusterDuplicates(records: readonly DuplicateRecord[]): readonly (readonly number[])[] {
  const clusters: Cluster[] = [];
  /** The last cluster with these counts; earlier ones ended before it began. */
  const byCounts = new Map<string, Cluster>();
  for (const record of records.toSorted(byStart)) {
    const open = matchesOf(record)
      .map((key) => byCounts.get(key))
      .find((cluster) => cluster !== undefined && overlaps(cluster, record) && agree(cluster.counts, record));
    const { startedAtUs, endedAtUs } = record;
    const cluster = open ?? { calls: [], startedAtUs, endedAtUs, counts: record };
    if (open === undefined) clusters.push(cluster);
    cluster.calls.push(record.call);
    cluster.endedAtUs = Math.max(cluster.endedAtUs, endedAtUs);
    cluster.counts = mergeCounts(cluster.counts, record);
    for (const key of keysOf(record)) byCounts.set(key, cluster);
  }
  return clusters.map((cluster) => cluster.calls);
}

function byStart(a: DuplicateRecord, b: DuplicateRecord): number {
  return a.startedAtUs - b.startedAtUs || b.endedAtUs - a.endedAtUs || (a.id < b.id ? -1 : 1);
}

/** Consecutive calls share an instant; two calls that begin and end in one instant overlap. */
function overlaps(cluster: Cluster, { startedAtUs }: DuplicateRecord): boolean {
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

/** Keys of a record: both counts, and each count alone for records that lack the other. */
function keysOf({ prompt, input, completion }: DuplicateRecord): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} ${ANY}`,
    `${ANY} ${completion}`,
  ]);
}

/** Keys of compatible counts: equal, or equal in one count if either side lacks the other. */
function matchesOf({ prompt, input, completion }: DuplicateRecord): readonly string[] {
  return [prompt, input].flatMap((tokens) => [
    `${tokens} ${completion}`,
    `${tokens} 0`,
    `0 ${completion}`,
    ...(completion === 0 ? [`${tokens} ${ANY}`] : []),
    ...(tokens === 0 ? [`${ANY} ${completion}`] : []),
  ]);
}
