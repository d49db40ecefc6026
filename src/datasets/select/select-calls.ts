import { planList } from "../../calls/read/plan.ts";
import type { CallRowKey } from "../../calls/read/call-keys.ts";
import { selectKeys } from "../../calls/read/select-keys.ts";
import { sql, type Sql } from "../../query/sql.ts";
import { fromCallsWithIds } from "../../ratings/calls-of-feedback.ts";
import { ratedCalls } from "../../ratings/rated-calls.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import { MAX_SELECTED, type ExportQuestion } from "../schema.ts";

const BY_THREAD = sql`ifNull(thread_id, ''), started_at, id, trace_id`;

/**
 * Selects calls, oldest first; for `last_of_thread` by thread first. With `feedback` only rated calls, and except for preferences
 * only those that pass. Throws `validation`, and too_many_calls for more than `MAX_SELECTED`.
 */
export async function selectCalls(
  engine: Engine,
  project: Project,
  { question, signal }: { readonly question: ExportQuestion; readonly signal: AbortSignal },
): Promise<Iterator<CallRowKey>> {
  const { filter, query, feedback, format, only } = question;
  const plan = planList(project, { filter, query });
  const rated = feedback == null ? undefined : ratedCalls(project, feedback);
  const selection = {
    ...plan,
    ...(rated !== undefined && { also: isRated(project, rated, format !== "preference") }),
    ...(only === "last_of_thread" && { orderBy: BY_THREAD }),
  };
  const { keys, truncated } = await selectKeys(engine, selection, { limit: MAX_SELECTED, offset: 0, signal });
  if (!truncated) return keys;
  const message = `More than ${MAX_SELECTED} calls are selected. Export parts of them: narrow the filter or the query.`;
  throw new AppError("too_many_calls", message);
}

/** SQL predicate of rated calls; of several calls with one id, feedback rates the first. */
function isRated(project: Project, rated: Sql, mustPass: boolean): Sql {
  const ids = sql`(SELECT call_id FROM ${rated}${mustPass ? sql` WHERE passed` : sql``})`;
  return sql`(id, trace_id) IN
    (SELECT id, argMin(trace_id, (assumeNotNull(started_at), trace_id)) ${fromCallsWithIds(project, ids)} GROUP BY id)`;
}
