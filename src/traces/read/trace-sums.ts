import type { UsageAggregate } from "../../usage-rollup/aggregate.ts";
import {
  COST_SLOTS,
  costFields,
  costSlots,
  costsInto,
  type CallCost,
  type CostKind,
} from "../../prices/cost-fields.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { OwnUsage } from "../../trace-usage/fold/rollup.ts";
import { ownUsageSteps, releaseOwn } from "../../trace-usage/fold/own-usage.ts";
import { usageOf } from "../../trace-usage/fold/usage-of.ts";
import { usageStartOf, type CallTable } from "../../trace-usage/table/call-table.ts";
import type { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { Sums } from "../../stats/sums/sums.ts";
import { Unpriced } from "../../stats/sums/unpriced.ts";
import type { ProviderOf } from "../../stats/sums/window-fold.ts";
import { areZero, COUNT_SLOTS, countsAt } from "../../usage/count-fields.ts";
import { hasNonTokenUnits } from "../../usage/units.ts";
import type { Usage } from "../../usage/usage.ts";
import type { TraceColumns } from "./trace-columns.ts";

export interface SumOptions {
  readonly names: LlmDictionary;
  /** Undefined if costs are not requested. */
  readonly book: PriceBook | undefined;
  readonly providerOf: ProviderOf;
}

/** Optional totals of a trace. */
export interface TraceDetails {
  /** Tokens by LLM. */
  readonly llms: Map<string, number>;
  readonly unpriced: Unpriced;
}

/** Usage of traces, each summed over all of its calls. */
export class TraceSums {
  /** One row per trace, in the order of the ids. */
  readonly sums: Sums;
  /** Sums of failed calls. */
  readonly failed: Sums;
  readonly details: readonly TraceDetails[];
  readonly unpriced: Unpriced;
  private readonly rows: ReadonlyMap<string, number>;
  private readonly seen: Uint8Array;
  private readonly options: SumOptions;
  private readonly costs = new Float64Array(COST_SLOTS);

  /** `withDetails`: also keeps the usage of failed calls, tokens by LLM, and unpriced usage of each trace. */
  constructor(traceIds: readonly string[], options: SumOptions & { readonly withDetails: boolean }) {
    const withCosts = options.book !== undefined;
    const newUnpriced = (): Unpriced =>
      new Unpriced(({ llm, service }) => options.providerOf(llm, service?.provider));
    this.options = options;
    this.rows = new Map(traceIds.map((traceId, row) => [traceId, row]));
    this.seen = new Uint8Array(traceIds.length);
    this.sums = Sums.ofRows(traceIds.length, { withCosts });
    this.failed = Sums.ofRows(options.withDetails ? traceIds.length : 0, { withCosts });
    this.details = options.withDetails
      ? traceIds.map(() => ({ llms: new Map<string, number>(), unpriced: newUnpriced() }))
      : [];
    this.unpriced = newUnpriced();
  }

  has(row: number): boolean {
    return this.seen[row] === 1;
  }

  /** Adds the calls of whole traces. */
  *add(calls: CallTable, columns: TraceColumns): Steps<void> {
    const own = yield* ownUsageSteps(calls, this.options.names);
    for (let call = 0; call < calls.count; call++) {
      if (call % ROWS_PER_STEP === 0) yield;
      const row = this.rows.get(columns.traceOf(call));
      if (row !== undefined) this.addCall(call, row, { calls, own, isError: columns.isError(call) });
    }
    releaseOwn(own, calls);
  }

  /** Adds aggregated calls, without details. */
  addAggregate({ fields: [traceId = ""], calls, errors, used }: UsageAggregate): void {
    const row = this.rows.get(traceId);
    if (row === undefined) return;
    this.seen[row] = 1;
    this.sums.addCalls(row, calls, errors);
    if (used === undefined) return;
    this.sums.addUsage(row, used.counts, 0, used.usages);
    if (used.costs === undefined || this.sums.addAggregate(row, used.costs)) return;
    const { costs, llm, service, units } = used;
    const known = (kind: CostKind): number | null => (costs[costSlots[kind]] === null ? null : 0);
    const cost = Object.fromEntries(costFields.map(({ kind }) => [kind, known(kind)])) as CallCost;
    this.unpriced.add({ llm, service, units, cacheOutsidePrompt: false, ...countsAt(used.counts, 0) }, cost);
  }

  private addCall(call: number, row: number, read: Read): void {
    const { calls, own, isError } = read;
    this.seen[row] = 1;
    this.sums.addCall(row, isError);
    const withFailed = isError && this.details.length > 0;
    if (withFailed) this.failed.addCall(row, true);
    for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
      if (areZero(own.counts, used) && !hasNonTokenUnits(own.units.get(used))) continue;
      const at = used * COUNT_SLOTS;
      const usage = usageOf(
        used,
        { counts: own.counts, at, units: own.units.get(used) },
        {
          calls,
          names: this.options.names,
        },
      );
      const cost = this.options.book?.cost(usage.llm, calls.startedAtUs[call]!, usage);
      this.addUsage(this.sums, row, { own, at, usage, cost });
      if (withFailed) this.addUsage(this.failed, row, { own, at, usage, cost });
      this.addDetails(row, usage, cost);
    }
  }

  private addUsage(sums: Sums, row: number, { own, at, cost }: Used): void {
    sums.addUsage(row, own.counts, at);
    if (cost === undefined) return;
    costsInto(this.costs, cost);
    sums.addCosts(row, this.costs);
  }

  private addDetails(row: number, usage: Usage, cost: CallCost | undefined): void {
    const isKnown = cost === undefined || costFields.every(({ kind }) => cost[kind] !== null);
    if (!isKnown) this.unpriced.add(usage, cost);
    const details = this.details[row];
    if (details === undefined) return;
    details.llms.set(usage.llm, (details.llms.get(usage.llm) ?? 0) + usage.totalTokens);
    if (!isKnown) details.unpriced.add(usage, cost);
  }
}

interface Read {
  readonly calls: CallTable;
  readonly own: OwnUsage;
  readonly isError: boolean;
}

interface Used {
  readonly own: OwnUsage;
  readonly at: number;
  readonly usage: Usage;
  readonly cost: CallCost | undefined;
}
