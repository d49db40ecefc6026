import { readTraceHours } from "../../trace-usage/read/traces-of-calls.ts";
import { moneyText } from "../../prices/money.ts";
import { addFigures, NO_FIGURES, type Figures } from "../figures.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import { foldTraces, type ReadDeps, type SumsOfTrace } from "../read/fold-traces.ts";
import { readRootTexts, type RootTexts } from "../read/read-root-texts.ts";
import { readTraceFeedback } from "../read/read-trace-feedback.ts";
import { selectTraces } from "../read/select-traces.ts";
import { compareRanks, pageToken, rankOf, type RankedTrace } from "./order.ts";
import { rankRecords, type Page } from "./rank-records.ts";

/** Builds the text of a page. Errors: `StorageError`; too_many_calls. `digest`: of the request, for the page token. */
export async function answerList(
  deps: ReadDeps,
  plan: TracesPlan,
  { page, digest }: { readonly page: Page; readonly digest: string },
): Promise<string> {
  // one more tells whether there is a next page
  const { order, direction, after, limit } = { ...page, limit: page.limit + 1 };
  const { ofRecords, ofCalls } = await selectTraces(deps, plan, (records) =>
    rankRecords(deps.engine, { records, page: { ...page, limit } }, deps.signal),
  );
  const folded = ofCalls.traces;
  const ranks = [...(ofRecords?.ranks ?? []), ...folded.map((trace) => rankOf(trace, order, direction))]
    .filter((rank) => after === undefined || compareRanks(rank, after) > 0)
    .sort(compareRanks);
  const shown = ranks.slice(0, page.limit);
  const end = ranks.length > shown.length ? shown.at(-1) : undefined;
  const traces = await rowsOf(deps, plan, shown);
  const total = folded.reduce((sum, { figures }) => addFigures(sum, figures), ofRecords?.total ?? NO_FIGURES);
  const count = (ofRecords?.traces ?? 0) + folded.length;
  const token = end === undefined ? null : pageToken({ endUs: plan.window.endUs, last: end }, digest);
  return (
    `{"traces":[${traces.join(",")}],"total":{"traces":${count},${figuresText(total)}},` +
    `"next_page_token":${JSON.stringify(token)}}`
  );
}

async function rowsOf(
  deps: ReadDeps,
  { project }: TracesPlan,
  ranks: readonly RankedTrace[],
): Promise<readonly string[]> {
  if (ranks.length === 0) return [];
  const { engine, signal } = deps;
  const ids = ranks.map(({ traceId }) => traceId);
  const hours = await readTraceHours(engine, project, ids, signal);
  const traces = ranks.map(({ traceId, callCount }) => {
    return { traceId, callCount, hours: hours.get(traceId) ?? [], ids: undefined };
  });
  const [sums, feedback] = await Promise.all([
    foldTraces(deps, project, traces, true),
    readTraceFeedback(engine, project, traces, signal),
  ]);
  const rows = ids.map((traceId, row) => ({ traceId, ...sums.of(row) }));
  const keys = rows.flatMap(({ traceId, root }) =>
    root === undefined ? [] : [{ traceId, id: root.fields.id, hour: root.hour }],
  );
  const texts = await readRootTexts(engine, project, keys, signal);
  // the others were deleted meanwhile
  const found = rows.filter(({ figures }) => figures.calls > 0);
  return found.map((row) => traceText(row, texts.get(row.traceId), feedback.get(row.traceId) ?? []));
}

function traceText(
  { traceId, root: first, figures, models }: SumsOfTrace & { readonly traceId: string },
  texts: RootTexts | undefined,
  feedback: readonly object[],
): string {
  const root = first && { ...first.fields, input_preview: null, output_preview: null, ...texts };
  return (
    `{"trace_id":${JSON.stringify(traceId)},"root":${JSON.stringify(root ?? null)},${figuresText(figures)},` +
    `"models":${JSON.stringify(namesOf(models))},"latency_ms":${first?.latencyMs ?? null},"feedback":${JSON.stringify(feedback)}}`
  );
}

/** Lists LLMs, the one with most tokens first. */
function namesOf(models: SumsOfTrace["models"]): readonly string[] {
  const tokens = new Map<string, number>();
  for (const { llm, tokens: some } of models) tokens.set(llm, (tokens.get(llm) ?? 0) + some);
  return [...tokens].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([llm]) => llm);
}

function figuresText({ calls, failed, unfinished, tokens, cost, wasted }: Figures): string {
  return (
    `"calls":${calls},"failed":${failed},"unfinished":${unfinished},"total_tokens":${tokens},` +
    `"total_cost":${moneyText(cost)},"partial":${cost.unpriced},"wasted_cost":${moneyText(wasted)}`
  );
}
