import type { Project } from "../shared/project.ts";
import type { CompiledQuery } from "./compile.ts";
import { compileFilter } from "./filter.ts";
import { LIVE, narrowedTraces } from "./narrowed-traces.ts";
import { join, param, sql, type Sql } from "./sql.ts";
import type { CallsFilter } from "./wire-schema.ts";

export interface CallSelection {
  /** Only calls of this project are read. There is no way to leave it out. */
  readonly project: Project;
  /** What to select, over the columns of `calls`. */
  readonly columns: Sql;
  /** The columns hold payloads: which calls they are is found first, without reading them. */
  readonly payloadColumns?: boolean;
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: CompiledQuery | undefined;
  /** Default: oldest first. */
  readonly orderBy?: Sql;
  readonly limit?: number;
  readonly offset?: number;
}

const OLDEST_FIRST = sql`started_at, id`;

/** The live calls of a project that match filter AND query, as one statement. */
export function selectCalls(selection: CallSelection): Sql {
  const { project, columns, payloadColumns = false } = selection;
  const order = sql`ORDER BY ${selection.orderBy ?? OLDEST_FIRST}`;
  const ordered = sql`${order}${page(selection)}`;
  const from = sql`FROM calls FINAL WHERE project_id = ${param("String", project)}`;
  const where = join(conditionsOf(selection), " AND ");
  if (!payloadColumns) return sql`SELECT ${columns} ${from} AND ${where} ${ordered}`;
  const keys = sql`SELECT trace_id, id ${from} AND ${where} ${ordered}`;
  return sql`SELECT ${columns} ${from} AND (trace_id, id) IN (${keys}) ${order}`;
}

function conditionsOf({ project, filter, query }: CallSelection): readonly Sql[] {
  const narrow = [compileFilter(filter), query?.narrow].filter((condition) => condition !== undefined);
  if (query?.payload === undefined) return [LIVE, ...narrow];
  return [LIVE, narrowedTraces(project, join(narrow, " AND ")), ...narrow, query.payload];
}

function page({ limit, offset }: CallSelection): Sql {
  const limited = limit === undefined ? sql`` : sql` LIMIT ${param("UInt64", limit)}`;
  return offset === undefined ? limited : sql`${limited} OFFSET ${param("UInt64", offset)}`;
}
