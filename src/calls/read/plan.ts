import { compileQuery } from "../../query/compile.ts";
import { compileSort, type SortKey } from "../../query/sort.ts";
import { keyRangeOf } from "../../query/key-range.ts";
import type { SelectOptions } from "../../query/select-calls.ts";
import type { CallsFilter } from "../../query/read/wire-schema.ts";
import { ALL_HOURS, intersect, type HourRange } from "../../query/bounds/time-range.ts";
import { hourOf } from "../../shared/instant.ts";
import { selectionHash, tokenError } from "../../http/page-token.ts";
import type { Project } from "../../shared/project.ts";
import { isAfter, readToken, type Cursor, type Pages, type TimeOrder } from "./page-token.ts";

export interface CallsQuery {
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
  readonly sort_by?: readonly SortKey[] | null | undefined;
  readonly page_token?: string | null | undefined;
}

/** Selection and order of calls. */
export interface ListPlan extends Pick<SelectOptions, "project" | "filter" | "query" | "orderBy" | "also"> {
  readonly startedIn: HourRange | undefined;
  /** `undefined` unless sorted by `started_at` alone. */
  readonly pages: Pages | undefined;
  /** True if the filter names traces or calls, so that the search is narrow in any order. */
  readonly namesCalls: boolean;
}

/** Compiles a request. Throws `validation`. */
export function planList(project: Project, request: CallsQuery): ListPlan {
  const { filter, page_token } = request;
  const selection = selectionHash([project, filter, request.query]);
  const cursor = page_token == null ? undefined : readToken(page_token, selection);
  const sort_by = request.sort_by?.length ? request.sort_by : orderOf(cursor);
  const query = request.query == null ? undefined : compileQuery(request.query, { project });
  const orderBy = sort_by.length > 0 ? compileSort(sort_by) : undefined;
  const order = timeOrderOf(sort_by);
  if (cursor !== undefined && cursor.order !== order) throw tokenError("This token belongs to another order");
  return {
    project,
    filter,
    query,
    pages: order && { order, selection },
    startedIn: intersect(query?.bounds.started, cursor && hoursFrom(cursor)),
    namesCalls: keyRangeOf({ filter, query }).in !== "project",
    ...(cursor !== undefined && { also: isAfter(cursor) }),
    orderBy,
  };
}

/** Defaults to the order of the previous pages. */
function orderOf(cursor: Cursor | undefined): readonly SortKey[] {
  return cursor === undefined ? [] : [{ field: "started_at", direction: cursor.order }];
}

function timeOrderOf(keys: readonly SortKey[]): TimeOrder | undefined {
  const [first, ...more] = keys;
  if (first === undefined) return "asc";
  return first.field === "started_at" && more.length === 0 ? first.direction : undefined;
}

function hoursFrom({ order, startedAtUs }: Cursor): HourRange {
  const hour = hourOf(startedAtUs);
  return order === "asc" ? { ...ALL_HOURS, from: hour } : { ...ALL_HOURS, to: hour };
}
