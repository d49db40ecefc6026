import type { PriceBook } from "../../prices/price-book.ts";
import { hoursOfWindow } from "../../trace-usage/plan.ts";
import { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import { isoOf } from "../../shared/instant.ts";
import type { ProviderOf } from "../../stats/sums/window-fold.ts";
import type { Engine } from "../../store/engine.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import { findAllTraces, type FoundTrace } from "../read/find-traces.ts";
import { findByStart } from "../read/newest-traces.ts";
import { readRoots } from "../read/read-roots.ts";
import { sumTraces } from "../read/sum-traces.ts";
import type { TraceSums } from "../read/trace-sums.ts";
import type { TotalName, TracesQueryRequest } from "../schema.ts";
import type { NumberRange } from "../trace-selection.ts";
import { groupsText } from "./groups.ts";
import { compareRanked, numberOf, rankOf, SUMMED, type Ranked } from "./order.ts";
import { readToken, tokenAfter } from "./page-token.ts";
import { sumOf, totalText, unpricedText } from "./totals.ts";

export interface ResponseDeps {
  readonly engine: Engine;
  /** Undefined if costs are not requested. */
  readonly book: PriceBook | undefined;
  readonly providerOf: ProviderOf;
  /** Maximum number of calls and of traces read for one response. */
  readonly maxCalls: number;
  readonly maxTraces: number;
  readonly signal: AbortSignal;
}

type Query = Pick<
  TracesQueryRequest,
  "totals" | "order_by" | "direction" | "limit" | "page_token" | "include_total" | "group_by"
>;

interface Requested {
  readonly plan: TracesPlan;
  readonly query: Query;
  /** Hash of the request members that determine the traces and their order. */
  readonly digest: string;
}

/** Traces of a page, and the total of all. */
interface Found {
  readonly page: readonly FoundTrace[];
  /** Undefined if not requested. */
  readonly total: string | undefined;
  readonly nextToken: string | null;
}

/** Builds the text of a response. Errors: `StorageError`; too_many_calls; validation. */
export async function responseTraces(deps: ResponseDeps, requested: Requested): Promise<string> {
  const { plan, query } = requested;
  const isByStart = query.order_by === "started_at" && query.totals == null && !query.include_total;
  const found = await (isByStart ? findPageByStart(deps, requested) : findPage(deps, requested));
  const rows = await rowTexts(deps, plan, found.page);
  return (
    `{"start":"${isoOf(plan.window.startUs)}","end":"${isoOf(plan.window.endUs)}","traces":[${rows.join(",")}]` +
    `,"total":${found.total ?? "null"},"next_page_token":${JSON.stringify(found.nextToken)}}`
  );
}

async function findPageByStart(deps: ResponseDeps, { plan, query, digest }: Requested): Promise<Found> {
  const { direction, limit, page_token: token } = query;
  const last = token == null ? undefined : readToken(token, digest);
  const after = last === undefined ? undefined : { startedAtUs: last.rank?.[0] ?? 0, traceId: last.traceId };
  const found = await findByStart(deps.engine, plan, {
    direction,
    after,
    limit: limit + 1,
    signal: deps.signal,
  });
  const page = found.slice(0, limit);
  const end = found.length > limit ? page.at(-1) : undefined;
  const nextToken =
    end === undefined ? null : tokenAfter({ rank: [end.startedAtUs, 0], traceId: end.traceId }, digest);
  return { page, total: undefined, nextToken };
}

async function findPage(deps: ResponseDeps, { plan, query, digest }: Requested): Promise<Found> {
  const { engine, maxTraces: most, signal } = deps;
  const {
    totals,
    order_by: order,
    direction,
    limit,
    page_token: token,
    include_total,
    group_by: key,
  } = query;
  const after = token == null ? undefined : readToken(token, digest);
  const all = await findAllTraces(engine, plan, { window: plan.window, most, key, signal });
  const needsSums =
    include_total ||
    SUMMED.has(order) ||
    Object.keys(totals ?? {}).some((name) => SUMMED.has(name as TotalName));
  const summed = needsSums ? await sum(deps, plan, all) : undefined;
  const sums = summed?.sums;
  const ranges = Object.entries(totals ?? {}).filter(([, range]) => range != null) as [
    TotalName,
    NumberRange,
  ][];
  const matching = all
    .map((trace, row) => ({ trace, row, traceId: trace.traceId, rank: rankOf(order, trace, { sums, row }) }))
    .filter(({ trace, row }) =>
      ranges.every(([name, range]) => isWithin(numberOf(name, rankOf(name, trace, { sums, row })), range)),
    )
    .sort(compareRanked(direction));
  const page = firstAfter(matching, { after, direction, limit });
  const end = page.isLast ? undefined : page.items.at(-1);
  return {
    page: page.items.map(({ trace }) => trace),
    total:
      include_total && summed !== undefined
        ? await totalOf(deps, plan, {
            matching,
            summed,
            isAll: matching.length === all.length,
            isGrouped: key !== undefined,
          })
        : undefined,
    nextToken: end === undefined ? null : tokenAfter(end, digest),
  };
}

interface Match extends Ranked {
  readonly trace: FoundTrace;
  readonly row: number;
}

function firstAfter(
  sorted: readonly Match[],
  {
    after,
    direction,
    limit,
  }: { readonly after: Ranked | undefined; readonly direction: "asc" | "desc"; readonly limit: number },
): { readonly items: readonly Match[]; readonly isLast: boolean } {
  const compare = compareRanked(direction);
  const begin = after === undefined ? 0 : sorted.findIndex((one) => compare(one, after) > 0);
  if (begin < 0) return { items: [], isLast: true };
  return { items: sorted.slice(begin, begin + limit), isLast: sorted.length <= begin + limit };
}

function isWithin(value: number | null, { gt, gte, lt, lte }: NumberRange): boolean {
  if (value === null) return false;
  return (
    (gt == null || value > gt) &&
    (gte == null || value >= gte) &&
    (lt == null || value < lt) &&
    (lte == null || value <= lte)
  );
}

function sum(
  { engine, book, providerOf, maxCalls, signal }: ResponseDeps,
  { project, window }: TracesPlan,
  traces: readonly FoundTrace[],
  withDetails = false,
): Promise<TraceSums> {
  const hours = hoursOfWindow(window);
  const options = {
    project,
    hours,
    names: new LlmDictionary(),
    book,
    providerOf,
    withDetails,
    maxCalls,
    signal,
  };
  return sumTraces(engine, traces, options);
}

/** Prints the totals of all matches. Unpriced usage is known in sum only, so subsets are queried again. */
async function totalOf(
  deps: ResponseDeps,
  plan: TracesPlan,
  { matching, summed, isAll, isGrouped }: ToTotal,
): Promise<string> {
  const withCosts = deps.book !== undefined;
  const traces = matching.map(({ trace }) => trace);
  const isExact = isAll || summed.unpriced.list().length === 0;
  const { sums, unpriced } = isExact ? summed : await sum(deps, plan, traces);
  const rows = matching.map(({ row, trace: { key } }, place) => ({ row: isExact ? row : place, key }));
  const total = sumOf(
    sums,
    rows.map(({ row }) => row),
    withCosts,
  );
  const failed = traces.filter(({ errors }) => errors > 0).length;
  const unfinished = traces.filter((trace) => trace.unfinished > 0).length;
  return (
    `{"traces":${traces.length},"failed_traces":${failed},"unfinished_traces":${unfinished}` +
    `,"total":${totalText(total, 0, withCosts)},"unpriced":${unpricedText(unpriced, withCosts)}` +
    `,"groups":${isGrouped ? groupsText(sums, rows, withCosts) : "null"}}`
  );
}

interface ToTotal {
  readonly matching: readonly Match[];
  readonly summed: TraceSums;
  /** True if all summed traces match. */
  readonly isAll: boolean;
  readonly isGrouped: boolean;
}

async function rowTexts(
  deps: ResponseDeps,
  plan: TracesPlan,
  traces: readonly FoundTrace[],
): Promise<readonly string[]> {
  const { engine, signal } = deps;
  const withCosts = deps.book !== undefined;
  const [roots, sums] = await Promise.all([
    readRoots(engine, plan.project, traces, signal),
    sum(deps, plan, traces, true),
  ]);
  return traces.flatMap((trace, row) => {
    const root = roots.get(trace.traceId);
    if (root === undefined || !sums.has(row)) return [];
    const { llms, unpriced } = sums.details[row]!;
    const models = [...llms].sort(([, one], [, other]) => other - one).map(([llm]) => llm);
    const fields = {
      ...root,
      latency_ms: trace.latencyMs ?? null,
      unfinished: trace.unfinished,
      models,
    };
    const totals =
      `"total":${totalText(sums.sums, row, withCosts)},"failed":${totalText(sums.failed, row, withCosts)}` +
      `,"unpriced":${unpricedText(unpriced, withCosts)}`;
    return [`${JSON.stringify(fields).slice(0, -1)},${totals}}`];
  });
}
