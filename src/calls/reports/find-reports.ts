import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import { inTraces } from "../../query/trace-hours.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import type { CallEvent } from "../events/call-event.ts";
import { columnsOf, endMembers } from "../events/message-columns.ts";
import { isGatewayId } from "../events/gateway-id.ts";
import { USAGE_SOURCES } from "../events/completion.ts";
import { readCallKeys, type CallRow } from "../storage-key/key-lookup.ts";
import { betterThan, namesIn, RANKS, reportOf } from "../events/report-names.ts";

/** A call that reports requests. */
export interface Reporter {
  readonly id: string;
  readonly traceId: string;
  readonly hour: number;
  readonly completionId: string;
  /** Names of its reports. */
  readonly names: readonly string[];
}

/** Event that makes a reporter count, unless the writer finds a better one. */
export function countingEvent({ id, traceId, hour, names }: Reporter): CallEvent {
  // of the gateway's calls only estimates count elsewhere
  const usageSource = isGatewayId(id) ? "estimate" : "client";
  const columns = columnsOf(endMembers, { usageSource, reports: names.map(reportOf) });
  return { id, isStart: false, traceId, hour, columns };
}

/** The value of the column `usage_source` of calls that count elsewhere. */
export const ELSEWHERE = USAGE_SOURCES.indexOf("elsewhere");

const TRACES_PER_QUERY = 100;
const CALLS_PER_QUERY = 10_000;

/** Reads visible calls with reports of these names, the latest traces first, in lists of bounded length. */
export async function* reportersOf(
  engine: Engine,
  project: Project,
  names: readonly string[],
  counted: "counted" | "elsewhere" | "any",
): AsyncGenerator<readonly Reporter[]> {
  const keys = await readCallKeys(
    engine,
    names.map((id) => ({ project, id })),
  );
  const places = keys.filter((key) => key.project_id === project).toSorted((a, b) => b.hour - a.hour);
  const traceIds = [...new Set(places.map((place) => place.trace_id))];
  for (const traces of chunksOf(traceIds, TRACES_PER_QUERY)) {
    let after = "";
    for (let found: readonly Reporter[] = []; ; after = found.at(-1)!.id) {
      found = await read(engine, {
        project,
        traces,
        names,
        condition: sql`${COUNTED[counted]} AND id > ${param("String", after)}`,
      });
      if (found.length > 0) yield found;
      if (found.length < CALLS_PER_QUERY) break;
    }
  }
}

/** Finds the best visible report of the requests that these reports name, if it is better. */
export async function findBetter(
  engine: Engine,
  project: Project,
  names: readonly string[],
): Promise<Reporter | undefined> {
  for (const rank of RANKS.toReversed()) {
    const better = names.flatMap(betterThan).filter((name) => reportOf(name).rank === rank);
    for await (const [first] of reportersOf(engine, project, better, "any")) return first;
  }
  return undefined;
}

const COUNTED = {
  counted: sql`ifNull(usage_source, 0) != ${param("UInt8", ELSEWHERE)}`,
  elsewhere: sql`usage_source = ${param("UInt8", ELSEWHERE)}`,
  any: sql`1`,
} as const;

interface Selection {
  readonly project: Project;
  readonly traces: readonly string[];
  readonly names: readonly string[];
  readonly condition: Sql;
}

interface Row extends CallRow {
  readonly reports: string;
  readonly completion_id: string;
}

/** Ordered by id: an id in two traces may be cut apart, but ids of reports are unique in a project. */
async function read(
  engine: Engine,
  { project, traces, names, condition }: Selection,
): Promise<readonly Reporter[]> {
  const rows = await engine.rows<Row>(
    sql`SELECT hour, trace_id, id, ifNull(reports, '') AS reports, ifNull(completion_id, '') AS completion_id FROM calls FINAL
        PREWHERE ${ofProject(project)} AND ${inTraces(project, traces)}
        WHERE ${IS_VISIBLE} AND hasAny(splitByChar('\n', ifNull(calls.reports, '')), ${param("Array(String)", names)})
          AND ${condition} ORDER BY id LIMIT ${param("UInt32", CALLS_PER_QUERY)}`,
    { name: "calls_by_report", limits: "ingest" },
  );
  return rows.map(({ id, hour, trace_id: traceId, completion_id: completionId, reports }) => ({
    id,
    hour,
    traceId,
    completionId,
    names: namesIn(reports),
  }));
}
