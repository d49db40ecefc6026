import { HOUR_MICROS } from "../shared/instant.ts";
import { IS_VISIBLE } from "./fields/columns.ts";
import type { CallsSelection } from "./key-range.ts";
import { narrowConditions, whereSelected } from "./narrow.ts";
import { join, param, sql, type Sql } from "./sql.ts";
import type { HourRange } from "./bounds/time-range.ts";

export interface SelectOptions extends CallsSelection {
  /** Expressions to select, over the columns of `calls`. */
  readonly columns: Sql;
  /** Default: oldest first. */
  readonly orderBy?: Sql | undefined;
  /** Conditions besides filter and query. */
  readonly also?: Sql | undefined;
  readonly limit?: number;
  readonly offset?: number;
}

const OLDEST_FIRST = sql`started_at, id, trace_id`;

/** The live calls of one project that match filter AND query. The project cannot be left out. */
export function selectCalls(selection: SelectOptions): Sql {
  const { project, columns, orderBy = OLDEST_FIRST } = selection;
  return sql`SELECT ${columns} FROM calls FINAL
    PREWHERE project_id = ${param("String", project)} AND ${whereSelected(selection)}
    WHERE ${conditionOf(selection)} ORDER BY ${orderBy}${pageOf(selection)}`;
}

/** Small columns first: the engine only reads the others for rows that pass. */
function conditionOf(selection: SelectOptions): Sql {
  const { query, also, startedIn } = selection;
  const payload = query?.payload === undefined ? [] : [query.payload];
  const more = also === undefined ? [] : [also];
  return join(
    [IS_VISIBLE, ...startedWithin(startedIn), ...more, ...narrowConditions(selection), ...payload],
    " AND ",
  );
}

function startedWithin(hours: HourRange | undefined): readonly Sql[] {
  if (hours === undefined) return [];
  const beginOf = (hour: number): Sql =>
    sql`fromUnixTimestamp64Micro(${param("Int64", hour * HOUR_MICROS)}, 'UTC')`;
  return [sql`started_at >= ${beginOf(hours.from)}`, sql`started_at < ${beginOf(hours.to + 1)}`];
}

function pageOf({ limit, offset }: SelectOptions): Sql {
  const limited = limit === undefined ? sql`` : sql` LIMIT ${param("UInt64", limit)}`;
  return offset === undefined ? limited : sql`${limited} OFFSET ${param("UInt64", offset)}`;
}
