import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { OwnUsage } from "../../trace-usage/fold/rollup.ts";
import { usageOf } from "../../trace-usage/fold/used.ts";
import { ownUsageSteps, usagesOf } from "../../trace-usage/fold/own-usage.ts";
import { idOf, isSelected, NONE, usageStartOf, type CallTable } from "../../trace-usage/table/call-table.ts";
import type { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import type { UsageEntries } from "../../trace-usage/table/usage-entries.ts";
import { COST_SLOTS, costFields, costsInto, type CallCost } from "../../prices/cost-fields.ts";
import { addMoney, NO_MONEY, usd, type Money } from "../../prices/money.ts";
import { areZero, COUNT_SLOTS, countSlots } from "../../usage/count-fields.ts";
import { statedCostOf } from "../../usage/stated-cost.ts";
import { hasNonTokenUnits } from "../../usage/units.ts";
import { isMore, NOTHING_YET } from "../../usage/most-used.ts";
import { HAS_FAILED, LATENCY, NO_LATENCY } from "../../usage-rollup/usage-record.ts";
import { always, flag, integer, moreColumns, text } from "../../trace-usage/table/more-columns.ts";
import { sql } from "../../query/sql.ts";
import { isNothing, type ProviderOf } from "../../usage/usage.ts";
import type { PricedSum } from "../../usage-rollup/priced-sums.ts";
import { StatsFold } from "./stats-fold.ts";
import type { StatsPlan } from "../plan/plan-stats.ts";
import { Unpriced } from "../../usage-rollup/unpriced.ts";

/** Failure, latency and values of the group key of a call. */
export function callColumns({ dimensions: { callKey }, latency }: StatsPlan) {
  return moreColumns((selected) => ({
    isError: flag(HAS_FAILED),
    latencyMs: latency === undefined ? always(NO_LATENCY) : integer(LATENCY),
    /** One value per line; '' of calls that are not selected. */
    key: callKey === undefined ? always("") : text(sql`if(ifNull(${selected}, 0), ${callKey}, '')`),
  }));
}
type CallColumns = ReturnType<ReturnType<typeof callColumns>["open"]>["more"];

export interface FoldOptions {
  readonly names: LlmDictionary;
  /** Undefined if costs are not requested. */
  readonly book: PriceBook | undefined;
  readonly providerOf: ProviderOf;
  readonly maxAggregates: number;
}

/** Sums of the calls of a window, each with its own usage. */
export class CallsFold extends StatsFold {
  private readonly options: FoldOptions;
  /** Costs of the current usage. */
  private readonly costs = new Float64Array(COST_SLOTS);
  /** Groups of each call key by LLM, and by provider where requested. */
  private readonly byCallKey = new Map<string, Map<number, number>>();
  private readonly byUsage: boolean;
  private readonly byProvider: boolean;

  constructor(plan: StatsPlan, options: FoldOptions) {
    super(plan, new Unpriced(options.providerOf), options.maxAggregates);
    this.options = options;
    this.byUsage = plan.dimensions.all.some(({ source }) => source !== "call");
    this.byProvider = plan.dimensions.all.some(({ source }) => source === "provider");
  }

  /** Adds the selected calls of whole traces. */
  *add(calls: CallTable, columns: CallColumns): Steps<void> {
    using own = yield* ownUsageSteps(calls, this.options.names);
    for (let call = 0; call < calls.count; call++) {
      if (isSelected(calls, call)) this.addCall(call, { calls, own, columns });
      if (call % ROWS_PER_STEP === 0) yield;
    }
  }

  /** Adds the selected calls of whole traces as rated. `passed`: ids of those that passed. */
  *addRated(calls: CallTable, columns: CallColumns, passed: ReadonlySet<string>): Steps<void> {
    using own = yield* ownUsageSteps(calls, this.options.names);
    for (let call = 0; call < calls.count; call++) {
      if (isSelected(calls, call)) this.addRatedCall(call, { calls, own, columns }, passed);
      if (call % ROWS_PER_STEP === 0) yield;
    }
  }

  /** The call counts once, so the calls of all groups are those of the window. */
  private addCall(call: number, read: Read): void {
    const { columns } = read;
    const into = this.aggregateOfCall(call, read, { addsUsage: true });
    this.sums.addCall(into, columns.isError(call));
    const latency = columns.latencyMs(call);
    if (latency !== NO_LATENCY) this.addLatency(into, latency);
  }

  /** Adds a call, with its whole own cost, where it counts. */
  private addRatedCall(call: number, read: Read, passed: ReadonlySet<string>): void {
    const { calls, own } = read;
    const { book } = this.options;
    const into = this.aggregateOfCall(call, read, { addsUsage: false });
    this.sums.addRated(into, passed.has(idOf(calls, call)));
    if (book === undefined) return;
    for (const usage of usagesOf(call, own, { calls, names: this.options.names }))
      if (!isNothing(usage))
        this.sums.addRatedCost(into, moneyOf(book.cost(usage.llm, calls.startedAtUs[call]!, usage)));
  }

  /** Finds the aggregate in which a call counts: of its LLM with the most tokens. `addsUsage`: adds its usage under its LLMs. */
  private aggregateOfCall(call: number, read: Read, { addsUsage }: { addsUsage: boolean }): number {
    const { calls, own, columns } = read;
    const startedAtUs = calls.startedAtUs[call]!;
    const bucket = this.bucketAt(startedAtUs);
    const key = columns.key(call);
    const byLlm = this.groupsOf(key);
    let callAggregate = NONE;
    let most = NOTHING_YET;
    for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
      if (areZero(own.counts, used) && !hasNonTokenUnits(own.units.get(used))) continue;
      const aggregate = this.aggregateAt(this.groupOfUsage(calls.usage, used, { byLlm, key }), bucket);
      if (addsUsage) this.addUsage(aggregate, used, { ...read, startedAtUs });
      const tokens = own.counts[used * COUNT_SLOTS + countSlots.totalTokens]!;
      if (!isMore(tokens, most)) continue;
      most = tokens;
      callAggregate = aggregate;
    }
    if (callAggregate !== NONE) return callAggregate;
    return this.aggregateAt(this.groupOfUsage(calls.usage, NONE, { byLlm, key }), bucket);
  }

  private addUsage(aggregate: number, used: number, read: Read & { readonly startedAtUs: number }): void {
    const { book, names } = this.options;
    const { sums } = this;
    const { calls, own, startedAtUs } = read;
    sums.addUsage(aggregate, own.counts, used * COUNT_SLOTS);
    if (book === undefined) return;
    const at = used * COUNT_SLOTS;
    const units = own.units.get(used);
    const stated = statedCostOf(units);
    if (stated !== undefined) sums.addStated(aggregate, stated);
    const usage = usageOf(used, { counts: own.counts, at, units }, { calls, names });
    const cost = book.cost(usage.llm, startedAtUs, usage);
    costsInto(this.costs, cost);
    if (!sums.addCosts(aggregate, this.costs, usage.requests)) this.unpriced.add(usage, cost);
  }

  /** Adds calls of the usage rollup. */
  addSum({ atUs, fields, calls, errors, latency, latencies, stated, used }: PricedSum): void {
    const { sums } = this;
    const { providerOf } = this.options;
    const provider = used === undefined ? null : providerOf(used.llm, used.service?.provider || undefined);
    const names = { llm: used?.llm ?? null, provider };
    const group = this.groups.numberOf(fields.map(jsonOf).join("\n"), names);
    const into = this.aggregateAt(group, this.bucketAt(atUs));
    sums.addCalls(into, calls, errors);
    this.addLatencies(into, latency, latencies);
    if (used === undefined) return;
    sums.addUsage(into, used.counts, 0);
    if (used.costs !== undefined) sums.addStated(into, stated);
    if (used.costs !== undefined && !sums.addSummedCosts(into, used.costs, used.counts[countSlots.requests]))
      this.unpriced.addSum(used);
  }

  private groupsOf(callKey: string): Map<number, number> {
    const known = this.byCallKey.get(callKey);
    if (known !== undefined) return known;
    const byLlm = new Map<number, number>();
    this.byCallKey.set(callKey, byLlm);
    return byLlm;
  }

  /** Finds the group of a usage; `used` is NONE for a call without usage. */
  private groupOfUsage({ llms, services }: UsageEntries, used: number, { byLlm, key }: GroupsOfKey): number {
    const isNamed = this.byUsage && used !== NONE;
    const llm = isNamed ? llms[used]! : NONE;
    const service = isNamed && this.byProvider ? services[used]! : 0;
    const known = byLlm.get(llm + service * MAX_LLMS);
    if (known !== undefined) return known;
    const { names, providerOf } = this.options;
    const name = isNamed ? names.textOf(llm) : null;
    const provider = name === null ? null : providerOf(name, names.services.serviceOf(service)?.provider);
    const group = this.groups.numberOf(key, { llm: name, provider });
    byLlm.set(llm + service * MAX_LLMS, group);
    return group;
  }
}

interface GroupsOfKey {
  readonly key: string;
  readonly byLlm: Map<number, number>;
}

/** Upper bound of LLM numbers. */
const MAX_LLMS = 2 ** 31;

interface Read {
  readonly calls: CallTable;
  readonly own: OwnUsage;
  readonly columns: CallColumns;
}

function moneyOf(cost: CallCost): Money {
  return costFields.reduce((sum, { kind }) => {
    const amount = cost[kind];
    return addMoney(sum, { usd: amount === null ? null : usd(amount), unpriced: amount === null });
  }, NO_MONEY);
}

/** Formats a value as `Dimensions.callKey` prints it. */
function jsonOf(value: string): string {
  return value === "" ? "" : JSON.stringify(value);
}
