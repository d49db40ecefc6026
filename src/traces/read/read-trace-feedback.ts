import { ofProject } from "../../query/hour-buckets.ts";
import { inTraceHours } from "../../query/trace-hours.ts";
import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import type { FoundTrace } from "./find-traces.ts";

/** Feedback of one type on the calls of a trace. */
export interface FeedbackSummary {
  readonly feedback_type: string;
  readonly count: number;
  /** Mean of the first number of each payload, of booleans the rate of true; absent if no payload has one, or it is not finite. */
  readonly avg?: number;
}

type Row = Omit<FeedbackSummary, "avg"> & { readonly trace_id: string; readonly avg: number | null };

/** Types over all traces of a request. */
const MAX_SUMMARIES = 50_000;

/**
 * First number or boolean of a payload in document order, as text; '' for none. It skips strings and whatever else stands
 * before, which a regular expression can, because payloads are stored as canonical JSON.
 */
const FIRST_SCALAR = trusted(
  String.raw`extract(payload, '^(?:[\\[\\]{},:nul]|"(?:[^"\\\\]|\\\\.)*")*(true|false|-?[0-9.eE+-]+)')`,
);
const NUMBER = sql`multiIf(scalar = 'true', 1, scalar = 'false', 0, JSONExtract(scalar, 'Nullable(Float64)'))`;

/**
 * Summarises the feedback on all calls of traces: by trace, sorted by type; traces without feedback are absent. Feedback on an
 * id that calls of two traces have counts in both. Cost: reads the references of all feedback of the project, and the ids of
 * these calls twice. Errors: `StorageError`; too_many_calls.
 */
export async function readTraceFeedback(
  engine: Engine,
  project: Project,
  traces: readonly Pick<FoundTrace, "traceId" | "hours">[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly FeedbackSummary[]>> {
  if (traces.length === 0 || !(await hasFeedback(engine, project, signal))) return new Map();
  const rows = await engine.rows<Row>(summariesOf(project, traces), {
    name: "traces_feedback",
    limits: "heavy",
    signal,
  });
  if (rows.length > MAX_SUMMARIES)
    throw new AppError(
      "too_many_calls",
      `The feedback of these traces has more than ${MAX_SUMMARIES} types. Use a lower limit or add conditions.`,
    );
  const byTrace = Map.groupBy(rows, ({ trace_id }) => trace_id);
  return new Map([...byTrace].map(([traceId, own]) => [traceId, own.map(summaryOf)]));
}

async function hasFeedback(engine: Engine, project: Project, signal: AbortSignal): Promise<boolean> {
  const rows = await engine.rows(sql`SELECT 1 FROM feedback WHERE ${ofProject(project)} LIMIT 1`, {
    name: "traces_has_feedback",
    dependsOn: ["feedback"],
    signal,
  });
  return rows.length > 0;
}

function summaryOf({ feedback_type, count, avg }: Row): FeedbackSummary {
  return avg === null ? { feedback_type, count } : { feedback_type, count, avg };
}

function summariesOf(project: Project, traces: readonly Pick<FoundTrace, "traceId" | "hours">[]): Sql {
  const place = inTraceHours(
    traces.flatMap(({ traceId, hours }) => hours.map((hour) => ({ traceId, hour }))),
  );
  const calls = (columns: Sql): Sql =>
    sql`SELECT DISTINCT ${columns} concat(${param("String", `weave:///${project}/call/`)}, id) AS ref
      FROM calls FINAL PREWHERE ${ofProject(project)} AND ${place} WHERE ${IS_VISIBLE}`;
  // any version names the keys, so that FINAL reads the payloads of these alone; the join compares the latest version
  const feedback = sql`SELECT weave_ref, feedback_type, ${FIRST_SCALAR} AS scalar FROM feedback FINAL
    PREWHERE (project_id, created_at, id) IN (
      SELECT project_id, created_at, id FROM feedback
      PREWHERE ${ofProject(project)} AND weave_ref IN (${calls(sql``)}))
    WHERE deleted = 0`;
  return sql`SELECT trace_id, feedback_type, toUInt32(count()) AS count,
      if(isFinite(sumKahan(number)), sumKahan(number) / nullIf(count(number), 0), NULL) AS avg
    FROM (${calls(sql`trace_id,`)}) AS called
    INNER JOIN (SELECT weave_ref, feedback_type, ${NUMBER} AS number FROM (${feedback})) AS said
    ON called.ref = said.weave_ref
    GROUP BY trace_id, feedback_type ORDER BY trace_id, feedback_type LIMIT ${param("UInt32", MAX_SUMMARIES + 1)}`;
}
