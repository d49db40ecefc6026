import { inTraces } from "../../query/index.ts";
import { addFigures, costText, NO_FIGURES, type Figures } from "../figures.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import { findTraces, type FoundTrace } from "../read/find-traces.ts";
import { readRootTexts, type RootKey, type RootTexts } from "../read/read-root-texts.ts";
import { readTraceFeedback } from "../read/read-trace-feedback.ts";
import { selectTraces, withFigures, type FoldedTrace, type ReadDeps } from "../read/select-traces.ts";
import { compareRanks, rankOf, type Rank } from "./order.ts";
import { pageToken } from "./page-token.ts";
import { rankRecords, type Page } from "./rank-records.ts";

/** Builds the text of a page. Errors: `StorageError`; too_many_calls. `digest`: of the request, for the page token. */
export async function answerList(
  deps: ReadDeps,
  plan: TracesPlan,
  { page, digest }: { readonly page: Page; readonly digest: string },
): Promise<string> {
  // one more tells whether there is a next page
  const { order, direction, after, limit } = { ...page, limit: page.limit + 1 };
  const { ofRecords, folded } = await selectTraces(deps, plan, (records, selection) =>
    rankRecords(deps.engine, { records, selection, page: { ...page, limit } }, deps.signal),
  );
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

async function rowsOf(deps: ReadDeps, plan: TracesPlan, ranks: readonly Rank[]): Promise<readonly string[]> {
  if (ranks.length === 0) return [];
  const { engine, signal } = deps;
  const { project } = plan;
  const ids = ranks.map(({ traceId }) => traceId);
  const where = [inTraces(project, ids)];
  const found = await findTraces(engine, { project, where, most: ids.length, withRoots: true }, signal);
  const [traces, texts, feedback] = await Promise.all([
    withFigures(deps, plan, found),
    readRootTexts(engine, project, found.flatMap(rootKeyOf), signal),
    readTraceFeedback(engine, project, found, signal),
  ]);
  const byId = new Map(traces.map((trace) => [trace.traceId, trace]));
  return ids.flatMap((id) => {
    const trace = byId.get(id);
    // deleted meanwhile
    if (trace === undefined) return [];
    return [traceText(trace, rootOf(trace, texts.get(id)), feedback.get(id) ?? [])];
  });
}

function rootKeyOf({ traceId, root }: FoundTrace): readonly RootKey[] {
  return root === undefined ? [] : [{ traceId, id: root.id, hour: root.hour }];
}

function rootOf({ root }: FoundTrace, texts: RootTexts | undefined): object | null {
  if (root === undefined) return null;
  const { hour: _hour, ...fields } = root;
  return { ...fields, input_preview: null, output_preview: null, ...texts };
}

function traceText(trace: FoldedTrace, root: object | null, feedback: readonly object[]): string {
  const { traceId, figures, models, latencyMs } = trace;
  return (
    `{"trace_id":${JSON.stringify(traceId)},"root":${JSON.stringify(root)},${figuresText(figures)},` +
    `"models":${JSON.stringify(namesOf(models))},"latency_ms":${latencyMs ?? null},"feedback":${JSON.stringify(feedback)}}`
  );
}

/** Lists LLMs, the one with most tokens first. */
function namesOf(models: FoldedTrace["models"]): readonly string[] {
  const tokens = new Map<string, number>();
  for (const { llm, tokens: some } of models) tokens.set(llm, (tokens.get(llm) ?? 0) + some);
  return [...tokens].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([llm]) => llm);
}

function figuresText({ calls, failed, unfinished, tokens, cost, wasted }: Figures): string {
  return (
    `"calls":${calls},"failed":${failed},"unfinished":${unfinished},"total_tokens":${tokens},` +
    `"total_cost":${costText(cost)},"partial":${cost.isPartial},"wasted_cost":${costText(wasted)}`
  );
}
