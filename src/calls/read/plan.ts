import {
  compileQuery,
  compileSort,
  keyRangeOf,
  type CallSelection,
  type CallsFilter,
  type SelectionLimits,
  type SortKey,
} from "../../query/index.ts";
import { ALL_HOURS, intersect, type HourRange } from "../../query/bounds/time-range.ts";
import { invalid } from "../../shared/errors.ts";
import { hourOf } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import {
  selectionHash,
  isAfter,
  readToken,
  refusedToken,
  type Cursor,
  type Pages,
  type TimeOrder,
} from "./page-token.ts";

type ListFilter = CallsFilter & { readonly traces_without_root?: boolean | null | undefined };

export interface CallsQuestion {
  readonly filter?: ListFilter | null | undefined;
  readonly query?: unknown;
  readonly sort_by?: readonly SortKey[] | null | undefined;
  readonly page_token?: string | null | undefined;
}

/** Which calls to read, and in which order. */
export interface ListPlan extends Pick<
  CallSelection,
  "project" | "filter" | "query" | "orderBy" | "also" | "withoutRoot"
> {
  readonly startedIn: HourRange | undefined;
  /** Undefined: not sorted by `started_at` alone. */
  readonly pages: Pages | undefined;
  /** The request names traces or calls, which restricts the search in any order. */
  readonly namesCalls: boolean;
}

/** Errors: validation, with the issues of query and order together. */
export function planList(project: Project, question: CallsQuestion, limits: SelectionLimits): ListPlan {
  const { filter, page_token } = question;
  const selection = selectionHash([project, filter, question.query]);
  const cursor = page_token == null ? undefined : readToken(page_token, selection);
  const sort_by = question.sort_by?.length ? question.sort_by : orderOf(cursor);
  const query = question.query == null ? undefined : compileQuery(question.query, { project, limits });
  const sort = sort_by.length > 0 ? compileSort(sort_by) : undefined;
  if (query?.ok === false || sort?.ok === false) {
    const issues = [query, sort].flatMap((one) => (one === undefined || one.ok ? [] : one.issues));
    throw invalid(issues.map((issue) => ({ ...issue, loc: ["body", ...issue.loc] })));
  }
  const order = timeOrderOf(sort_by);
  if (cursor !== undefined && cursor.order !== order) throw refusedToken("This page is of another order");
  return {
    project,
    filter,
    query,
    pages: order && { order, selection },
    startedIn: intersect(query?.bounds.started, cursor && hoursFrom(cursor)),
    namesCalls: keyRangeOf({ filter, query }).in !== "project",
    withoutRoot: filter?.traces_without_root === true,
    ...(cursor !== undefined && { also: isAfter(cursor) }),
    ...(sort !== undefined && { orderBy: sort.orderBy }),
  };
}

/** Without a requested order, a page has the order of the pages before it. */
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
