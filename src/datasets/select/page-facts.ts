import type { StoredCall } from "../../calls/read/stored-call.ts";
import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql } from "../../query/sql.ts";
import { inTraces } from "../../query/trace-hours.ts";
import { ratedCalls, type RatedCall } from "../../ratings/rated-calls.ts";
import type { RatingCondition } from "../../ratings/schema.ts";
import { pairKey } from "../../shared/pair-key.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";

export interface PageReader {
  readonly engine: Engine;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** Reads which calls of a page have children, as `pairKey` of trace and call. */
export async function readParents(
  { engine, project, signal }: PageReader,
  page: readonly StoredCall[],
): Promise<ReadonlySet<string>> {
  const traces = [...new Set(page.map(({ trace_id }) => trace_id))];
  const ids = page.map(({ id }) => id);
  const rows = await engine.rows<{ trace: string; parent: string }>(
    sql`SELECT DISTINCT trace_id AS trace, ifNull(parent_id, '') AS parent FROM calls FINAL
        PREWHERE ${ofProject(project)} AND ${inTraces(project, traces)}
        WHERE ${IS_VISIBLE} AND parent IN ${param("Array(String)", ids)}`,
    { name: "dataset_parents", limits: "heavy", signal },
  );
  return new Set(rows.map(({ trace, parent }) => pairKey(trace, parent)));
}

/** Reads the ratings of a page by the ids of its calls. */
export async function readRatings(
  { engine, project, signal }: PageReader,
  condition: RatingCondition,
  page: readonly StoredCall[],
): Promise<ReadonlyMap<string, RatedCall>> {
  const ids = param(
    "Array(String)",
    page.map(({ id }) => id),
  );
  const rated = ratedCalls(project, condition, sql`(SELECT arrayJoin(${ids}))`);
  const rows = await engine.rows<RatedCall>(sql`SELECT call_id, passed, value FROM ${rated}`, {
    name: "dataset_ratings",
    limits: "heavy",
    signal,
  });
  return new Map(rows.map((row) => [row.call_id, row]));
}
