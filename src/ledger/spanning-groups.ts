import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** Traces with calls under the same hours. */
export interface SpanningGroup {
  /** Ascending. */
  readonly hours: readonly number[];
  /** The sum of the hashes of the traces' ids, modulo 2^64. */
  readonly digest: string;
}

export interface SpanningTraces {
  /** What the ledger can have. */
  readonly groups: readonly SpanningGroup[];
  /** Of each hour the digest of all its spanning traces, also of those that have too many hours for a group. */
  readonly digests: ReadonlyMap<number, string>;
  /** Hours with traces that have too many. */
  readonly hoursOfLong: readonly number[];
}

/** The digest of an hour without any. */
export const NO_SPANNING = "0";

/** Traces with more hours than this are always folded live. */
const MAX_HOURS = 48;

interface Options {
  readonly name: string;
  readonly signal?: AbortSignal;
}

/**
 * The traces that `spanning_traces` has under some hours, by all their hours. Never of a replica that may lack some.
 * `window`: a condition on `hour`.
 */
export async function readSpanning(
  engine: Engine,
  project: Project,
  window: Sql,
  options: Options,
): Promise<SpanningTraces> {
  const rows = await engine.rows<SpanningGroup & { readonly isLong: 0 | 1 }>(
    sql`SELECT hours, length(all_hours) > ${param("UInt32", MAX_HOURS)} AS isLong, toString(sum(cityHash64(trace_id))) AS digest FROM (
          SELECT trace_id, all_hours, arrayJoin(if(length(all_hours) > ${param("UInt32", MAX_HOURS)}, arrayMap(hour -> [hour], all_hours), [all_hours])) AS hours
          FROM (${hoursOfTraces(project, window)}))
        GROUP BY hours, isLong`,
    { ...options, limits: "heavy", mustBeCurrent: true },
  );
  const digests = new Map<number, bigint>();
  for (const { hours, digest } of rows)
    for (const hour of hours)
      digests.set(hour, BigInt.asUintN(64, (digests.get(hour) ?? 0n) + BigInt(digest)));
  const [groups, long] = [
    rows.filter(({ isLong }) => isLong === 0),
    rows.filter(({ isLong }) => isLong === 1),
  ];
  return {
    groups,
    digests: new Map([...digests].map(([hour, digest]) => [hour, String(digest)])),
    hoursOfLong: long.flatMap(({ hours }) => hours),
  };
}

export interface GroupToFold extends SpanningGroup {
  readonly traceIds: readonly string[];
}

/** The groups themselves. */
export function readGroups(
  engine: Engine,
  project: Project,
  window: Sql,
  options: Options,
): Promise<readonly GroupToFold[]> {
  return engine.rows<GroupToFold>(
    sql`SELECT all_hours AS hours, groupArray(trace_id) AS traceIds, toString(sum(cityHash64(trace_id))) AS digest
        FROM (${hoursOfTraces(project, window)}) WHERE length(all_hours) <= ${param("UInt32", MAX_HOURS)} GROUP BY all_hours`,
    { ...options, limits: "maintenance", mustBeCurrent: true },
  );
}

/** The hours of a group as one text, also where the store prints them. */
export function groupKey(hours: readonly number[]): string {
  return `[${hours.join(",")}]`;
}

/** Another text if other traces lie under these hours. */
export function groupState({ hours, digest }: SpanningGroup): string {
  return `${digest} ${groupKey(hours)}`;
}

/** `(hour, trace_id)` of all calls of the spanning traces of some hours, but of those in the groups with these keys. */
export function placesOutside(project: Project, window: Sql, groupKeys: readonly string[]): Sql {
  return sql`(SELECT arrayJoin(all_hours), trace_id FROM (${hoursOfTraces(project, window)})
    WHERE toString(all_hours) NOT IN ${param("Array(String)", groupKeys)})`;
}

function hoursOfTraces(project: Project, window: Sql): Sql {
  return sql`SELECT trace_id, arraySort(groupUniqArray(hour)) AS all_hours FROM trace_hours
    WHERE project_id = ${param("String", project)} AND trace_id IN
      (SELECT trace_id FROM spanning_traces WHERE project_id = ${param("String", project)} AND ${window})
    GROUP BY trace_id`;
}
