import { inTurns } from "../../fairness/turns.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import type { ProviderOf, Usage } from "../../usage/usage.ts";
import { readCalls } from "../../trace-usage/read-calls.ts";
import { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import type { SelectedTrace } from "../../trace-usage/plan.ts";
import { COST_SLOTS, costsInto } from "../../prices/cost-fields.ts";
import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { Sums } from "../../usage-rollup/sums.ts";
import { Unpriced } from "../../usage-rollup/unpriced.ts";
import { ownUsageSteps } from "../../trace-usage/fold/own-usage.ts";
import type { OwnUsage } from "../../trace-usage/fold/rollup.ts";
import { usageOf } from "../../trace-usage/fold/used.ts";
import { wastedCalls } from "../../trace-usage/fold/wasted-calls.ts";
import { idOf, isFinished, usageStartOf, type CallTable } from "../../trace-usage/table/call-table.ts";
import { always, flag, moreColumns, text } from "../../trace-usage/table/more-columns.ts";
import { HAS_FAILED } from "../../usage-rollup/usage-record.ts";
import { areZero, COUNT_SLOTS } from "../../usage/count-fields.ts";
import { statedCostOf } from "../../usage/stated-cost.ts";
import { hasNonTokenUnits } from "../../usage/units.ts";
import { figuresOf, type Figures } from "../figures.ts";
import { readRoot, ROOT_TEXT, type ReadRoot } from "./trace-root.ts";

export interface ReadDeps {
  readonly engine: Engine;
  readonly book: PriceBook;
  readonly providerOf: ProviderOf;
  /** Maximum number of calls and of traces read for one response. */
  readonly maxCalls: number;
  readonly maxTraces: number;
  readonly signal: AbortSignal;
}

/** Sums the usage of traces from their calls, a row per trace. `withRoots`: reads their roots too. Errors: `StorageError`; too_many_calls. */
export async function foldTraces(
  { engine, book, providerOf, maxCalls, signal }: ReadDeps,
  project: Project,
  traces: readonly SelectedTrace[],
  withRoots: boolean,
): Promise<TraceSums> {
  const names = new LlmDictionary();
  const into = new TraceSums(
    traces.map(({ traceId }) => traceId),
    { names, book, providerOf },
  );
  if (traces.length === 0) return into;
  const plan = {
    project,
    condition: sql`1`,
    whereSelected: sql`1`,
    whereTraces: sql`1`,
    strategy: { kind: "known traces", traces: traces.toSorted(byHour) },
    limit: undefined,
  } as const;
  const tooMany = (what: string): AppError =>
    new AppError(
      "too_many_calls",
      `The selected traces have ${what}; a response reads at most ${maxCalls}. ` +
        "Use a shorter window or a smaller limit, or add conditions.",
    );
  const found = await readCalls(engine, plan, {
    names,
    columns: traceColumns(withRoots),
    maxCalls,
    tooMany,
    signal,
  });
  for await (using table of found.tables) await inTurns(into.add(table.calls, table.more));
  return into;
}

/** Orders traces by hour, so that those read together are stored together. */
function byHour(one: SelectedTrace, other: SelectedTrace): number {
  return (one.hours[0] ?? 0) - (other.hours[0] ?? 0);
}

/** Failure, trace and, where requested, `ROOT_TEXT` of a call. */
function traceColumns(withRoots: boolean) {
  return moreColumns(() => ({
    isError: flag(HAS_FAILED),
    traceId: text(sql`trace_id`),
    rootText: withRoots ? text(ROOT_TEXT) : always(""),
  }));
}
type TraceColumns = ReturnType<ReturnType<typeof traceColumns>["open"]>["more"];

type SumOptions = Pick<ReadDeps, "book" | "providerOf"> & { readonly names: LlmDictionary };

export interface SumsOfTrace {
  readonly figures: Figures;
  readonly models: readonly ModelUse[];
  /** `undefined` if it has none, or roots were not read. */
  readonly root: ReadRoot | undefined;
}

interface FirstRoot {
  readonly startedUs: number;
  readonly id: string;
  readonly text: string;
}

/** Usage of traces, each summed over all of its calls. */
export class TraceSums {
  /** One row per trace, in the order of the ids. */
  readonly sums: Sums;
  readonly unpriced: Unpriced;
  private readonly unfinished: Float64Array;
  private readonly roots: (FirstRoot | undefined)[] = [];
  /** Tokens by LLM and provider of the usage, per trace. */
  private readonly models: readonly Map<string, ModelUse>[];
  private readonly rows: ReadonlyMap<string, number>;
  private readonly options: SumOptions;
  private readonly costs = new Float64Array(COST_SLOTS);

  constructor(traceIds: readonly string[], options: SumOptions) {
    this.options = options;
    this.rows = new Map(traceIds.map((traceId, row) => [traceId, row]));
    this.sums = Sums.ofRows(traceIds.length, { withCosts: true });
    this.unpriced = new Unpriced(options.providerOf);
    this.unfinished = new Float64Array(traceIds.length);
    this.models = traceIds.map(() => new Map<string, ModelUse>());
  }

  of(row: number): SumsOfTrace {
    const root = this.roots[row];
    return {
      figures: figuresOf(this.sums, row, this.unfinished[row]!),
      models: [...this.models[row]!.values()],
      root: root === undefined ? undefined : readRoot(root.text),
    };
  }

  /** Adds the calls of whole traces. */
  *add(calls: CallTable, columns: TraceColumns): Steps<void> {
    using own = yield* ownUsageSteps(calls, this.options.names);
    const wasted = wastedCalls(calls, columns.isError);
    for (let call = 0; call < calls.count; call++) {
      if (call % ROWS_PER_STEP === 0) yield;
      const row = this.rows.get(columns.traceId(call));
      if (row === undefined) continue;
      this.sums.addCall(row, columns.isError(call));
      if (!isFinished(calls, call)) this.unfinished[row]!++;
      this.addRoot(call, row, { calls, text: columns.rootText(call) });
      this.addUsages(call, row, { calls, own, isWasted: wasted[call] === 1 });
    }
  }

  private addRoot(
    call: number,
    row: number,
    { calls, text }: { readonly calls: CallTable; readonly text: string },
  ): void {
    if (text === "") return;
    const known = this.roots[row];
    const [id, startedUs] = [idOf(calls, call), calls.startedAtUs[call]!];
    const isFirst =
      known === undefined ||
      (startedUs - known.startedUs || Buffer.compare(Buffer.from(id), Buffer.from(known.id))) < 0;
    if (isFirst) this.roots[row] = { id, startedUs, text };
  }

  private addUsages(call: number, row: number, { calls, own, isWasted }: Read): void {
    const { names, book } = this.options;
    for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
      const units = own.units.get(used);
      if (areZero(own.counts, used) && !hasNonTokenUnits(units)) continue;
      const at = used * COUNT_SLOTS;
      const usage = usageOf(used, { counts: own.counts, at, units }, { calls, names });
      const cost = book.cost(usage.llm, calls.startedAtUs[call]!, usage);
      costsInto(this.costs, cost);
      this.sums.addUsage(row, own.counts, at);
      if (!this.sums.addCosts(row, this.costs)) this.unpriced.add(usage, cost);
      if (isWasted) this.sums.addWasted(row, this.costs);
      const stated = statedCostOf(units);
      if (stated !== undefined) this.sums.addStated(row, stated);
      this.addModel(row, usage);
    }
  }

  private addModel(row: number, { llm, service, totalTokens }: Usage): void {
    const key = JSON.stringify([llm, service?.provider]);
    const known = this.models[row]!.get(key);
    const tokens = (known?.tokens ?? 0) + totalTokens;
    this.models[row]!.set(key, { llm, provider: service?.provider, tokens });
  }
}

export interface ModelUse {
  readonly llm: string;
  /** As the usage names it. */
  readonly provider: string | undefined;
  readonly tokens: number;
}

interface Read {
  readonly calls: CallTable;
  readonly own: OwnUsage;
  readonly isWasted: boolean;
}
