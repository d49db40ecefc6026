import {
  compileFilter,
  compileQuery,
  reachOf,
  type CallsFilter,
  type CompiledQuery,
  type Reach,
  type SelectionLimits,
} from "../query/index.ts";
import { sql } from "../query/sql.ts";
import { invalid } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import type { Selection } from "./selection.ts";

export interface SelectionRequest {
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
  readonly limit: number;
}

/** The calls that match filter AND query. Errors: validation. */
export function planSelection(
  project: Project,
  { filter, query: written, limit }: SelectionRequest,
  limits?: SelectionLimits,
): Selection {
  const query = compile(project, written, limits);
  const condition = compileFilter(withoutTraces(filter));
  return {
    project,
    condition: query === undefined ? condition : sql`(${condition} AND ${query.condition})`,
    reach: reachOf({ project, filter, query }),
    onlyTrace: filter?.trace_ids?.length === 1 ? filter.trace_ids[0] : undefined,
    evaluateOnce: query !== undefined && (query.payload !== undefined || query.readsFeedback),
    limit,
  };
}

/** The condition on the traces says it already. */
function withoutTraces(filter: CallsFilter | null | undefined): CallsFilter | null | undefined {
  return filter?.trace_ids?.length ? { ...filter, trace_ids: undefined } : filter;
}

function compile(
  project: Project,
  query: unknown,
  limits: SelectionLimits | undefined,
): CompiledQuery | undefined {
  if (query == null) return undefined;
  const compiled = compileQuery(query, limits === undefined ? { project } : { project, limits });
  if (compiled.ok) return compiled;
  throw invalid(compiled.faults.map((fault) => ({ ...fault, loc: ["body", ...fault.loc] })));
}

const NOWHERE: Reach = { calls: sql`0`, traces: sql`(SELECT '' WHERE 0)`, isBounded: true };

/** The given calls alone; none when none is given. */
export function planRoots(
  project: Project,
  request: { callIds: readonly string[]; limit: number },
): Selection {
  const { callIds, limit } = request;
  const selection = planSelection(project, { filter: { call_ids: [...callIds] }, limit });
  return callIds.length === 0 ? { ...selection, condition: sql`0`, reach: NOWHERE } : selection;
}
