import type { PriceBook } from "../../prices/price-book.ts";
import { sql, type Sql } from "../../query/sql.ts";
import type { Engine } from "../../store/engine.ts";
import type { ProviderOf } from "../../stats/sums/window-fold.ts";
import { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import { hoursOfWindow } from "../../trace-usage/plan.ts";
import { divideTraces } from "../../usage-rollup/divide-traces.ts";
import { readPriceTable } from "../../usage-rollup/read-price-table.ts";
import type { TraceRecords, TraceSelection } from "../../usage-rollup/records-by-trace.ts";
import { readTraceSnapshot } from "../../usage-rollup/snapshot.ts";
import { meetsTotals, totalsInRecords } from "../plan/totals.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import type { TraceWithFigures } from "../trace-values.ts";
import { findTraces, type FoundTrace } from "./find-traces.ts";
import { foldTraces } from "./fold-traces.ts";
import { TraceSums, type SumsOfTrace } from "./trace-sums.ts";

export interface ReadDeps {
  readonly engine: Engine;
  readonly book: PriceBook;
  readonly providerOf: ProviderOf;
  /** Maximum number of calls and of traces read for one response. */
  readonly maxCalls: number;
  readonly maxTraces: number;
  readonly signal: AbortSignal;
}

/** Trace with its figures, from its calls. `row`: its index in the sums. */
export type FoldedTrace = FoundTrace & TraceWithFigures & SumsOfTrace & { readonly row: number };

export interface FoldedTraces {
  readonly traces: readonly FoldedTrace[];
  /** Sums of these and of traces that do not meet `TracesPlan.totals`. */
  readonly sums: TraceSums;
}

/** Every selected trace is either in the records or folded. */
export interface SelectedTraces<OfRecords> {
  /** `undefined`: all traces are folded. */
  readonly ofRecords: OfRecords | undefined;
  readonly folded: FoldedTraces;
}

/**
 * Selects the traces of a plan: those in the usage rollup by `readRecords`, the others by folding their calls. Errors:
 * `StorageError`; too_many_calls.
 */
export async function selectTraces<OfRecords>(
  deps: ReadDeps,
  plan: TracesPlan,
  readRecords: (
    records: TraceRecords,
    selection: TraceSelection,
    folded: Promise<FoldedTraces>,
  ) => Promise<OfRecords | "changed">,
): Promise<SelectedTraces<OfRecords>> {
  const { project, window } = plan;
  const { engine, book, signal } = deps;
  const noTraces: FoldedTraces = {
    traces: [],
    sums: new TraceSums([], { ...deps, names: new LlmDictionary() }),
  };
  if (window.endUs <= window.startUs) return { ofRecords: undefined, folded: noTraces };
  if (plan.isNamed) return { ofRecords: undefined, folded: await foldIn(deps, plan, plan.place) };
  const { ofRecords, ofCalls: folded } = await divideTraces<OfRecords, FoldedTraces>({
    project,
    readSnapshot: () => readTraceSnapshot(engine, project, hoursOfWindow(window), signal),
    readRecords: async (manifests, ofCalls) => {
      const prices = await readPriceTable(engine, { project, manifests, book }, signal);
      if (prices === "changed" || prices === "unable") return prices;
      return readRecords({ project, manifests, prices }, recordSelection(plan, prices.costUnit), ofCalls);
    },
    readCalls: async (where): Promise<FoldedTraces> => {
      if (where === undefined) return noTraces;
      return foldIn(deps, plan, where === "all" ? plan.place : sql`${plan.place} AND ${where}`);
    },
  });
  return { ofRecords, folded };
}

function recordSelection(
  { window, root, anyCall, totals, place }: TracesPlan,
  costUnit: number,
): TraceSelection {
  const ofCalls = [root, anyCall].filter((one) => one !== undefined && one.ofRecords === undefined);
  const traces = ofCalls.map((one) => sql`trace_id IN ${one!.tracesIn(place)}`);
  return {
    started: window,
    root: root?.ofRecords,
    anyCall: anyCall?.ofRecords,
    traces: [...traces, ...totalsInRecords(totals, costUnit)],
  };
}

/** Selects and folds the traces among those with all calls in `place`. */
async function foldIn(deps: ReadDeps, plan: TracesPlan, place: Sql): Promise<FoldedTraces> {
  const { engine, maxTraces: most, signal } = deps;
  const { project, window: started, root, anyCall } = plan;
  const conditions = [root, anyCall].filter((one) => one !== undefined);
  const where = [place, ...conditions.map((one) => sql`trace_id IN ${one.tracesIn(place)}`)];
  const found = await findTraces(engine, { project, where, started, most }, signal);
  const sums = await foldTraces(engine, found, { ...deps, project });
  const folded = found.map((trace, row) => ({ ...trace, ...sums.of(row), row }));
  return { traces: folded.filter((trace) => meetsTotals(trace, plan.totals)), sums };
}
