import { postJson, type RequestOptions } from "../api/client.ts";
import type { Query } from "../api/routes.ts";
import { readQuery } from "../state/query.ts";
import { allOf, printSearch, withCondition, type Condition } from "../state/search.ts";
import { OF_STATUS } from "../state/select-traces.ts";
import {
  conditionsOf,
  mergeNames,
  queryBeside,
  type Facet,
  type FacetValue,
  type FoundValues,
} from "./facets.ts";
import { selectionOf, tracesQuestion, type TracesQuestion } from "./traces-question.ts";

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
    const named = group.map(async ({ facet, query }, at) => {
      const merged = mergeNames(facet, found[at]!, question.query.search);
      return [facet.key, await countUnsure({ ...question, query }, facet, merged, asking)] as const;
    });
    return Promise.all(named);
  });
  const errors = beside.filter(({ facet }) => facet.key === "exception");
  const ofErrors = errors.map(async ({ facet, query }) => [
    [facet.key, await loadErrors({ ...question, query }, facet, asking)] as const,
  ]);
  const failed = beside.filter(({ facet, query }) => facet.key === "failed" && query.search !== undefined);
  const counts = failed.map(async ({ facet, query }) => [
    [facet.key, await countFailed({ ...question, query }, asking)] as const,
  ]);
  return new Map((await Promise.all([...answers, ...counts, ...ofErrors])).flat());
}

/** Any call failed. */
export const FAILED = { field: "status", op: ":", value: "failed", isNot: false } as const;

async function countFailed(question: TracesQuestion, asking: RequestOptions): Promise<FoundValues> {
  const total = await countWith([FAILED], question, asking);
  return { values: total.traces === 0 ? [] : [{ value: "failed", ...total }], other: 0 };
}

const MAX_ERRORS = 1000;

/** Errors of roots in full, which facets are not. */
async function loadErrors(
  question: TracesQuestion,
  facet: Facet,
  asking: RequestOptions,
): Promise<FoundValues> {
  const { totals, query, ...selection } = selectionOf(question, question.query);
  const operands = [query?.$expr ?? [], OF_STATUS["failed"]!].flat();
  const body = {
    ...selection,
    query: { $expr: allOf(operands) } as Query,
    of: "traces" as const,
    group_by: [{ $getField: "exception" }],
    include_costs: true,
    granularity: ONE_BUCKET,
    order_by: "traces" as const,
    limit: MAX_ERRORS,
  };
  const { groups, other } = (await postJson({ path: "/usage/stats", body }, asking)).body;
  const found = groups.map(({ key, total: { traces = 0, total_cost = null, partial = false } }) => {
    return { value: key["exception"]!, traces, total_cost, partial };
  });
  // sums of traces are no condition of usage: its counts are too high
  const tooMany = totals === undefined ? 0 : 1;
  const merged = mergeNames(facet, { values: found, other: (other?.groups ?? 0) + tooMany }, undefined);
  const all = await countUnsure(question, facet, merged, asking);
  return { other: all.other - tooMany, values: all.values.filter(({ traces }) => traces > 0) };
}

/** Size of one bucket, however long the window is. */
const ONE_BUCKET = 3_155_760_000;

/** Counts the traces that fulfil more conditions. */
async function countWith(
  conditions: readonly Condition[],
  question: TracesQuestion,
  asking: RequestOptions,
): Promise<Omit<FacetValue, "value">> {
  const text = conditions.reduce(withCondition, printSearch(question.query.search!));
  const query = readQuery(text, "traces");
  const { body } = await postJson(tracesQuestion({ ...question, query }, { limit: 1 }), asking);
  const { traces, total_cost, partial } = body.total;
  return { traces, total_cost, partial };
}

/** Number of names that are counted by a search for each. */
const MAX_COUNTED = 10;

/** Counts by a search what sums may not tell; the names beyond a limit are left out. */
async function countUnsure(
  question: TracesQuestion,
  facet: Facet,
  { values, other }: FoundValues,
  asking: RequestOptions,
): Promise<FoundValues> {
  const [sure, unsure] = [false, true].map((is) => values.filter(({ isUnsure = false }) => isUnsure === is));
  if (question.query.search === undefined || unsure!.length === 0) return { values, other };
  const counts = unsure!.slice(0, MAX_COUNTED).map(async (value) => {
    const conditions = conditionsOf(facet, value);
    return conditions.length === 0 ? value : { ...value, ...(await countWith(conditions, question, asking)) };
  });
  const counted = [...sure!, ...(await Promise.all(counts))].toSorted((a, b) => b.traces - a.traces);
  return { values: counted, other: other + Math.max(0, unsure!.length - MAX_COUNTED) };
}
