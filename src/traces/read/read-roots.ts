import { columns } from "../../query/fields/columns.ts";
import { inTraceHours, IS_VISIBLE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import { toIso } from "../../shared/instant.ts";
import type { Engine } from "../../store/engine.ts";
import { STATUS } from "../plan/call-conditions.ts";
import { ROOT_FIRST } from "../plan/plan-traces.ts";
import type { FoundTrace } from "./find-traces.ts";

/** Preview of a trace's root, and the users of the trace. */
export interface RootDetails {
  readonly trace_id: string;
  readonly call_id: string;
  readonly has_root: boolean;
  readonly roots: number;
  readonly op_name: string | null;
  readonly display_name: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly status: string;
  readonly exception: string | null;
  readonly thread_id: string | null;
  readonly svc_user_id: string | null;
  readonly svc_user_ids: readonly string[];
  readonly inputs_start: string | null;
}

type Row = Omit<RootDetails, "has_root" | "inputs_start"> & { readonly hour: number };

const EXCEPTION_CHARACTERS = trusted("200");
const INPUT_CHARACTERS = trusted("300");
const MAX_USERS = trusted("10");

/** Reads the roots of traces, by trace; traces deleted meanwhile have none. */
export async function readRoots(
  engine: Engine,
  project: Project,
  traces: readonly FoundTrace[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RootDetails>> {
  if (traces.length === 0) return new Map();
  const places = traces.flatMap(({ traceId, hours }) => hours.map((hour) => ({ traceId, hour })));
  const rows = await engine.rows<Row>(rootsOf(project, inTraceHours(places)), {
    name: "traces_roots",
    limits: "heavy",
    signal,
  });
  const inputs = await readInputs(engine, project, rows, signal);
  return new Map(rows.map((row) => [row.trace_id, detailsOf(row, inputs.get(row.trace_id) ?? null)]));
}

function detailsOf({ hour: _hour, ...row }: Row, inputsStart: string | null): RootDetails {
  return {
    ...row,
    has_root: row.roots > 0,
    started_at: toIso(row.started_at),
    ended_at: row.ended_at === null ? null : toIso(row.ended_at),
    inputs_start: inputsStart,
  };
}

function rootsOf(project: Project, place: Sql): Sql {
  const text = (name: string): Sql => columns.get(name)!.sql;
  const ofRoot = {
    call_id: sql`id`,
    hour: sql`hour`,
    op_name: text("op_name"),
    display_name: text("display_name"),
    started: sql`toString(assumeNotNull(started_at))`,
    ended: sql`ifNull(toString(${text("ended_at")}), '')`,
    status: STATUS,
    exception: sql`leftUTF8(${text("exception")}, ${EXCEPTION_CHARACTERS})`,
    thread_id: text("thread_id"),
    svc_user_id: text("svc_user_id"),
  };
  const values = Object.values(ofRoot);
  const tuple = values.reduce((all, value) => sql`${all}, ${value}`);
  const at = (name: keyof typeof ofRoot): Sql =>
    sql`root.${trusted(String(Object.keys(ofRoot).indexOf(name) + 1))}`;
  const orNull = (name: keyof typeof ofRoot): Sql => sql`nullIf(${at(name)}, '') AS ${trusted(name)}`;
  return sql`SELECT trace_id, ${at("call_id")} AS call_id, ${at("hour")} AS hour, roots, ${orNull("op_name")}, ${orNull("display_name")},
      ${at("started")} AS started_at, nullIf(${at("ended")}, '') AS ended_at, ${at("status")} AS status, ${orNull("exception")},
      ${orNull("thread_id")}, ${orNull("svc_user_id")}, arraySort(users) AS svc_user_ids
    FROM (SELECT trace_id, argMin((${tuple}), ${ROOT_FIRST}) AS root, toUInt32(countIf(ifNull(parent_id, '') = '')) AS roots,
        groupUniqArrayIf(${MAX_USERS})(ifNull(svc_user_id, ''), ifNull(svc_user_id, '') != '') AS users
      FROM calls FINAL PREWHERE ${ofProject(project)} AND ${place} WHERE ${IS_VISIBLE} GROUP BY trace_id)`;
}

/** Reads the start of the inputs, by trace. */
async function readInputs(
  engine: Engine,
  project: Project,
  roots: readonly Pick<Row, "trace_id" | "call_id" | "hour">[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const place = inTraceHours(roots.map(({ hour, trace_id: traceId }) => ({ hour, traceId })));
  const ids = param(
    "Array(String)",
    roots.map(({ call_id }) => call_id),
  );
  const rows = await engine.rows<{ trace_id: string; id: string; inputs: string }>(
    sql`SELECT trace_id, id, leftUTF8(ifNull(inputs, ''), ${INPUT_CHARACTERS}) AS inputs FROM calls FINAL
        PREWHERE ${ofProject(project)} AND ${place} AND id IN ${ids} WHERE ${IS_VISIBLE}`,
    { name: "traces_inputs", limits: "heavy", signal },
  );
  const idOf = new Map(roots.map(({ trace_id, call_id }) => [trace_id, call_id]));
  return new Map(
    rows
      .filter(({ trace_id, id }) => idOf.get(trace_id) === id)
      .map(({ trace_id, inputs }) => [trace_id, inputs]),
  );
}
