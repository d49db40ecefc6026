import type { CostOf } from "../prices/cost-of-call.ts";
import { usageOf, type OwnUsage } from "../rollup/fold/rollup.ts";
import { ownUsage } from "../rollup/fold/own-usage.ts";
import { isSelected, NONE, usageStartOf, type CallTable } from "../rollup/table/call-table.ts";
import type { LlmNames } from "../rollup/table/llm-names.ts";
import type { UsageEntries } from "../rollup/table/usage-entries.ts";
import { COST_SLOTS, costsInto } from "../prices/cost-fields.ts";
import { COUNT_SLOTS, countSlots } from "../usage/count-fields.ts";
import { release } from "../shared/buffers.ts";
import { bucketFinder } from "./bucket-finder.ts";
import type { CallColumns } from "./call-columns.ts";
import { Cells } from "./cells.ts";
import { Groups } from "./groups.ts";
import { CellValues, MAX_VALUES } from "./cell-values.ts";
import type { StatsPlan } from "./plan.ts";
import { Unpriced } from "./unpriced.ts";

/** Who sells an LLM: the provider that is said to have served it, or else the one that the price list has. */
export type ProviderOf = (llm: string, servedBy: string | undefined) => string | null;

export interface FoldOptions {
  readonly plan: StatsPlan;
  readonly names: LlmNames;
  /** Undefined: costs are not asked for. */
  readonly costOf: CostOf | undefined;
  readonly providerOf: ProviderOf;
  readonly maxCells: number;
}

/** The calls of a window, added up by group and bucket: each with what is its own. */
export class WindowFold {
  readonly groups: Groups;
  readonly cells: Cells;
  readonly unpriced: Unpriced;
  private readonly options: FoldOptions;
  private readonly bucketAt: (ms: number) => number;
  /** Of the usage at hand. */
  private readonly costs = new Float64Array(COST_SLOTS);
  /** Of each call key the groups by LLM, and by who served it where that is asked for. */
  private readonly byCallKey = new Map<string, Map<number, number>>();
  private readonly byUsage: boolean;
  private readonly byProvider: boolean;

  constructor(options: FoldOptions) {
    const { plan } = options;
    this.options = options;
    this.groups = new Groups(plan.dimensions.all);
    this.unpriced = new Unpriced(({ llm, service }) => options.providerOf(llm, service?.provider));
    this.bucketAt = bucketFinder(plan.buckets.startsMs);
    this.byUsage = plan.dimensions.all.some(({ source }) => source !== "call");
    this.byProvider = plan.dimensions.all.some(({ source }) => source === "provider");
    this.cells = new Cells({
      buckets: plan.buckets.startsMs.length,
      maxCells: options.maxCells,
      withCosts: options.costOf !== undefined,
      latencies: plan.latency?.percentiles.length ? new CellValues(MAX_VALUES) : undefined,
    });
  }

  /** Adds the selected calls of some whole traces. */
  add(calls: CallTable, columns: CallColumns): void {
    const own = ownUsage(calls, this.options.names);
    for (let call = 0; call < calls.count; call++) {
      if (isSelected(calls, call)) this.addCall(call, { calls, own, columns });
    }
    if (own.counts !== calls.usage.counts) release(own.counts);
  }

  /**
   * What a call used stands under the LLM it was used of. The call itself counts once: under the LLM of which it used
   * most, so that the calls of all groups are the calls of the window.
   */
  private addCall(call: number, read: Read): void {
    const { calls, own, columns } = read;
    const startedAtMs = calls.startedAtUs[call]! / 1000;
    const bucket = this.bucketAt(startedAtMs);
    const key = columns.keyOf(call);
    const byLlm = this.groupsOf(key);
    let callCell = NONE;
    let most = -1;
    for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
      if (isNothing(own, used)) continue;
      const cell = this.cells.at(this.groupOf(calls.usage, used, { byLlm, key }), bucket);
      this.addUsage(cell, used, { ...read, startedAtMs });
      const tokens = own.counts[used * COUNT_SLOTS + countSlots.totalTokens]!;
      if (tokens <= most) continue;
      most = tokens;
      callCell = cell;
    }
    if (callCell === NONE) callCell = this.cells.at(this.groupOf(calls.usage, NONE, { byLlm, key }), bucket);
    this.cells.sums.addCall(callCell, columns.isError(call));
    const latency = columns.latencyOf(call);
    if (latency === undefined) return;
    this.cells.sums.addLatency(callCell, latency);
    this.cells.latencies?.add(callCell, latency);
  }

  private addUsage(cell: number, used: number, read: Read & { readonly startedAtMs: number }): void {
    const { costOf, names } = this.options;
    const { sums } = this.cells;
    const { calls, own, startedAtMs } = read;
    sums.addUsage(cell, own.counts, used * COUNT_SLOTS);
    if (costOf === undefined) return;
    const at = used * COUNT_SLOTS;
    const usage = usageOf(used, { counts: own.counts, at, units: own.units.get(used) }, { calls, names });
    const cost = costOf(usage, startedAtMs);
    costsInto(this.costs, cost);
    if (!sums.addCosts(cell, this.costs)) this.unpriced.add(usage, cost);
  }

  private groupsOf(callKey: string): Map<number, number> {
    const known = this.byCallKey.get(callKey);
    if (known !== undefined) return known;
    const byLlm = new Map<number, number>();
    this.byCallKey.set(callKey, byLlm);
    return byLlm;
  }

  /** The group of a usage; of a call without any, `used` is NONE. */
  private groupOf({ llms, services }: UsageEntries, used: number, { byLlm, key }: GroupsOfKey): number {
    const isTold = this.byUsage && used !== NONE;
    const llm = isTold ? llms[used]! : NONE;
    const service = isTold && this.byProvider ? services[used]! : 0;
    const known = byLlm.get(llm + service * MAX_LLMS);
    if (known !== undefined) return known;
    const { names, providerOf } = this.options;
    const name = isTold ? names.textOf(llm) : null;
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

/** Numbers of LLMs are smaller. */
const MAX_LLMS = 2 ** 31;

interface Read {
  readonly calls: CallTable;
  readonly own: OwnUsage;
  readonly columns: CallColumns;
}

function isNothing({ counts, units }: OwnUsage, used: number): boolean {
  for (let slot = 0; slot < COUNT_SLOTS; slot++) if (counts[used * COUNT_SLOTS + slot]! > 0) return false;
  return !units.has(used);
}
