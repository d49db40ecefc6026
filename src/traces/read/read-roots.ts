import { columns } from "../../query/fields/columns.ts";
import { inTraceHours, IS_VISIBLE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { join, sql, trusted } from "../../query/sql.ts";
import { toIso } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import type { FoundTrace } from "./find-traces.ts";

/** Root of a trace: its earliest call without a parent. */
export interface TraceRoot {
  readonly id: string;
  readonly hour: number;
  readonly op_name: string | null;
  readonly display_name: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly svc_user_id: string | null;
  readonly thread_id: string | null;
  readonly exception: string | null;
}

const MAX_EXCEPTION = trusted("1000");
const text = (name: string) => columns.get(name)!.sql;
const FIELDS = {
  id: sql`id`,
  hour: sql`hour`,
  op_name: sql`nullIf(${text("op_name")}, '')`,
  display_name: sql`nullIf(${text("display_name")}, '')`,
  started_at: sql`toString(assumeNotNull(started_at))`,
  ended_at: sql`toString(${text("ended_at")})`,
  svc_user_id: sql`nullIf(${text("svc_user_id")}, '')`,
  thread_id: sql`nullIf(${text("thread_id")}, '')`,
  exception: sql`nullIf(leftUTF8(${text("exception")}, ${MAX_EXCEPTION}), '')`,
};
type Field = keyof typeof FIELDS;

/** Reads the roots of traces, by trace id. */
export async function readRoots(
  engine: Engine,
  project: Project,
  traces: readonly FoundTrace[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TraceRoot>> {
  if (traces.length === 0) return new Map();
  const place = inTraceHours(
    traces.flatMap(({ traceId, hours }) => hours.map((hour) => ({ traceId, hour }))),
  );
  const values = join(Object.values(FIELDS), ", ");
  const rows = await engine.rows<{ trace_id: string; root: unknown[] }>(
    sql`SELECT trace_id, argMin(tuple(${values}), (started_at, id)) AS root
      FROM calls FINAL PREWHERE ${ofProject(project)} AND ${place}
      WHERE ${IS_VISIBLE} AND ifNull(parent_id, '') = '' GROUP BY trace_id`,
    { name: "traces_roots", limits: "heavy", signal },
  );
  return new Map(rows.map(({ trace_id, root }) => [trace_id, rootOf(root)]));
}

function rootOf(values: readonly unknown[]): TraceRoot {
  const names = Object.keys(FIELDS) as Field[];
  const root = Object.fromEntries(names.map((name, place) => [name, values[place]])) as unknown as TraceRoot;
  return {
    ...root,
    started_at: toIso(root.started_at),
    ended_at: root.ended_at === null ? null : toIso(root.ended_at),
  };
}
