import {
  compileQuery,
  compileSort,
  type CallSelection,
  type CallsFilter,
  type SelectionLimits,
  type SortKey,
} from "../query/index.ts";
import { invalid } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";

export interface CallsQuestion {
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
  readonly sort_by?: readonly SortKey[] | null | undefined;
}

/** Which calls, and in which order. */
export type CallsPlan = Pick<CallSelection, "project" | "filter" | "query" | "orderBy">;

/** Errors: validation, with the faults of query and order together. */
export function planCalls(project: Project, question: CallsQuestion, limits: SelectionLimits): CallsPlan {
  const query = question.query == null ? undefined : compileQuery(question.query, { project, limits });
  const sort = question.sort_by?.length ? compileSort(question.sort_by) : undefined;
  if (query?.ok === false || sort?.ok === false) {
    const faults = [query, sort].flatMap((one) => (one === undefined || one.ok ? [] : one.faults));
    throw invalid(faults.map((fault) => ({ ...fault, loc: ["body", ...fault.loc] })));
  }
  return { project, filter: question.filter, query, ...(sort !== undefined && { orderBy: sort.orderBy }) };
}
