import { join, param, sql, type Sql } from "./sql.ts";
import { LIVE, narrowConditions, tracesOf, type TraceSelection } from "./traces-of.ts";

export interface CallSelection extends TraceSelection {
  /** What to select, over the columns of `calls`. */
  readonly columns: Sql;
  /** Default: oldest first. */
  readonly orderBy?: Sql;
  readonly limit?: number;
  readonly offset?: number;
}

const OLDEST_FIRST = sql`started_at, id, trace_id`;

/** The live calls that match filter AND query, of one project: there is no way to leave it out. */
export function selectCalls(selection: CallSelection): Sql {
  const { project, columns, orderBy = OLDEST_FIRST } = selection;
  return sql`SELECT ${columns} FROM calls FINAL
    PREWHERE project_id = ${param("String", project)} AND ${tracesOf(selection)}
    WHERE ${conditionOf(selection)} ORDER BY ${orderBy}${pageOf(selection)}`;
}

/** Small columns first: the engine leaves the rest alone where these do not hold. */
function conditionOf({ filter, query }: CallSelection): Sql {
  const payload = query?.payload === undefined ? [] : [query.payload];
  return join([LIVE, ...narrowConditions(filter, query), ...payload], " AND ");
}

function pageOf({ limit, offset }: CallSelection): Sql {
  const limited = limit === undefined ? sql`` : sql` LIMIT ${param("UInt64", limit)}`;
  return offset === undefined ? limited : sql`${limited} OFFSET ${param("UInt64", offset)}`;
}
