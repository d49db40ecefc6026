import { postJson, type RequestOptions } from "../api/client.ts";
import { readQuery } from "../state/query.ts";
import { printSearch, withCondition } from "../state/search.ts";
import { queryBeside, type Facet, type FacetValue } from "./facets.ts";
import { selectionOf, tracesQuestion, type TracesQuestion } from "./traces-question.ts";

export interface FoundValues {
  readonly values: readonly FacetValue[];
  /** Number of values left out. */
  readonly other: number;
}

/** The most values that the service lists. */
const MAX_VALUES = 100;

/** Values of facets by key, each of the traces that match all conditions but its own. */
export async function loadFacets(
  question: TracesQuestion,
  facets: readonly Facet[],
  asking: RequestOptions,
): Promise<ReadonlyMap<string, FoundValues>> {
  const beside = facets.map((facet) => ({ facet, query: queryBeside(facet, question.query) }));
  // facets that are asked of the same traces are asked together
  const groups = Map.groupBy(
    beside.filter(({ facet }) => facet.field !== undefined),
    ({ query }) => JSON.stringify(query),
  );
  const answers = [...groups.values()].map(async (group) => {
    const fields = group.map(({ facet }) => facet.field!);
    const body = { ...selectionOf(question, group[0]!.query), fields, limit: MAX_VALUES };
    const { facets: found } = (await postJson({ path: "/traces/facets", body }, asking)).body;
    return group.map(({ facet }, at) => [facet.key, found[at]!] as const);
  });
  const failed = beside.filter(({ facet, query }) => facet.key === "failed" && query.search !== undefined);
  const counts = failed.map(async ({ facet, query }) => [
    [facet.key, await countFailed({ ...question, query }, asking)] as const,
  ]);
  return new Map((await Promise.all([...answers, ...counts])).flat());
}

/** Any call failed. */
export const FAILED = { field: "status", op: ":", value: "failed", isNot: false } as const;

/** The search for traces with a failed call, among those of another one. */
export function withFailed(text: string): string {
  return withCondition(text, FAILED);
}

async function countFailed(question: TracesQuestion, asking: RequestOptions): Promise<FoundValues> {
  const query = readQuery(withFailed(printSearch(question.query.search!)), "traces");
  const { total } = (await postJson(tracesQuestion({ ...question, query }, { limit: 1 }), asking)).body;
  return { values: total.traces === 0 ? [] : [{ value: "failed", ...total }], other: 0 };
}
