import { sql, type Sql } from "../../query/sql.ts";
import { hoursOfWindow } from "../../trace-usage/plan.ts";
import { divideTraces, type Divided } from "../../usage-rollup/divide-traces.ts";
import { readPriceTable } from "../../usage-rollup/read-price-table.ts";
import type { PriceTable } from "../../usage-rollup/price-table.ts";
import type { TraceRecords } from "../../usage-rollup/records-by-trace.ts";
import { MAX_SPAN_HOURS } from "../../usage-rollup/hours.ts";
import { meetsTotals, totalsInRecords } from "../plan/totals.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import type { TraceWithFigures } from "../trace-values.ts";
import { findTraces, type FoundTrace } from "./find-traces.ts";
import { foldTraces, type ReadDeps, type SumsOfTrace, type TraceSums } from "./fold-traces.ts";

/** Trace with its figures, from its calls. `row`: its index in the sums. */
export type FoldedTrace = FoundTrace & TraceWithFigures & SumsOfTrace & { readonly row: number };

export interface FoldedTraces {
  readonly traces: readonly FoldedTrace[];
  /** Sums of these and of traces that do not meet `TracesPlan.totals`. */
  readonly sums: TraceSums;
}

/**
 * Selects the traces of a plan: those in the usage rollup by `readRecords`, the others by folding their calls. Errors:
 * `StorageError`; too_many_calls.
 */
export async function selectTraces<OfRecords>(
  deps: ReadDeps,
  plan: TracesPlan,
  readRecords: (records: TraceRecords, folded: Promise<FoldedTraces>) => Promise<OfRecords | "changed">,
): Promise<Divided<OfRecords, FoldedTraces>> {
  const { project, window } = plan;
  const { engine, book, signal } = deps;
  const isEmpty = window.endUs <= window.startUs;
  if (isEmpty || plan.isNamed)
    return { ofRecords: undefined, ofCalls: await foldIn(deps, plan, isEmpty ? undefined : plan.place) };
  return divideTraces<OfRecords, FoldedTraces>(
    { engine, project, signal },
    {
      started: hoursOfWindow(window),
      margin: MAX_SPAN_HOURS,
      readRecords: async (manifests, ofCalls) => {
        const prices = await readPriceTable(engine, { project, manifests, book }, signal);
        if (prices === "changed" || prices === "unable") return prices;
        return readRecords(recordsOf(plan, manifests, prices), ofCalls);
      },
      readCalls: (where) =>
        foldIn(deps, plan, where === "all" ? plan.place : where && sql`${plan.place} AND ${where}`),
    },
  );
}

function recordsOf(
  { project, window: started, root, anyCall, totals, place }: TracesPlan,
  manifests: TraceRecords["manifests"],
  prices: PriceTable,
): TraceRecords {
  const ofCalls = [root, anyCall].flatMap((one) =>
    one === undefined || one.ofRecords !== undefined ? [] : [sql`trace_id IN ${one.tracesIn(place)}`],
  );
  const traces = [...ofCalls, ...totalsInRecords(totals, prices.costUnit)];
  return { project, manifests, prices, started, root: root?.ofRecords, anyCall: anyCall?.ofRecords, traces };
}

/** Selects and folds the traces among those with all calls in `place`; `undefined`: none. */
export async function foldIn(
  deps: ReadDeps,
  plan: TracesPlan,
  place: Sql | undefined,
): Promise<FoldedTraces> {
  const { engine, maxTraces: most, signal } = deps;
  const { project, window: started, root, anyCall } = plan;
  const where = (all: Sql): readonly Sql[] => [
    all,
    ...[root, anyCall].flatMap((one) => (one === undefined ? [] : [sql`trace_id IN ${one.tracesIn(all)}`])),
  ];
  const found =
    place === undefined
      ? []
      : await findTraces({ engine, project, signal }, { where: where(place), started, most });
  const sums = await foldTraces(deps, project, found, false);
  const folded = found.map((trace, row) => ({ ...trace, ...sums.of(row), row }));
  return { traces: folded.filter((trace) => meetsTotals(trace, plan.totals)), sums };
}
