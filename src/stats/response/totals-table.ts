import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import type { StatsFold } from "../sums/stats-fold.ts";
import { percentileOf, type SortedRows } from "../sums/latencies.ts";
import { latencyNames, latencyOf, type LatencySpec, type Order } from "../plan/order.ts";
import {
  COUNT_MEMBERS,
  TOTAL_COST_SLOT,
  totalMembers,
  TRACES_SLOT,
  PASSED_SLOT,
  type TotalMember,
  type TotalParts,
} from "../../usage-rollup/total-members.ts";
import { Sums } from "../../usage-rollup/sums.ts";
import { compareUsd, usdText, type Usd } from "../../prices/money.ts";

/** Members of totals. */
export interface TotalShape extends TotalParts {
  readonly latency: LatencySpec | undefined;
}

function latencyMembers({ latency }: TotalShape): readonly string[] {
  return latency === undefined ? [] : latencyNames(latency);
}

/** Numbers of a total. */
export function columnNames(shape: TotalShape): readonly string[] {
  const members = totalMembers(shape).map(({ name }) => name);
  return [...members, ...latencyMembers(shape).map((name) => `latency_ms_${name}`)];
}

function costText(cost: Usd | null): string {
  return cost === null ? "null" : usdText(cost);
}

function costPer(cost: Usd | null, count: number): number | null {
  return cost === null || count === 0 ? null : Number(usdText(cost)) / count;
}

/** Aggregates merged into rows: of a group, a bucket or the window. */
export class TotalsTable {
  private readonly sums: Sums;
  private readonly shape: TotalShape;
  private readonly members: readonly TotalMember[];
  private sorted: SortedRows | undefined;

  private constructor(shape: TotalShape, rows: number) {
    this.shape = shape;
    this.members = totalMembers(shape);
    this.sums = Sums.ofRows(rows, shape);
  }

  /** `rowOf`: the row of an aggregate; -1 for none. */
  static *of(
    fold: StatsFold,
    shape: TotalShape,
    { rows, rowOf }: { rows: number; rowOf: (aggregate: number) => number },
  ): Steps<TotalsTable> {
    const view = new TotalsTable(shape, rows);
    for (let aggregate = 0; aggregate < fold.sums.length; aggregate++) {
      const row = rowOf(aggregate);
      if (row >= 0) view.sums.addFrom(fold.sums, aggregate, row);
      if (aggregate % ROWS_PER_STEP === 0) yield;
    }
    if (fold.latencies !== undefined) view.sorted = yield* fold.latencies.sortedRows(rowOf, rows);
    return view;
  }

  /** Groups may have usage of calls that count in another group, see `CallsFold`. */
  isUsed(row: number): boolean {
    return COUNT_MEMBERS.some((_, slot) => this.sums.countOf(row, slot) > 0);
  }

  /** Prints the total of a row as JSON. */
  text(row: number): string {
    const numbers = this.numbers(row);
    const members = this.members.map(({ name }, place) => `"${name}":${numbers[place]}`);
    const latencies = latencyMembers(this.shape).map(
      (name, place) => `"${name}":${numbers[members.length + place]}`,
    );
    const latency = this.shape.latency === undefined ? [] : [`"latency_ms":{${latencies.join(",")}}`];
    return `{${[...members, ...latency].join(",")}}`;
  }

  /** Prints the numbers of a row in the order of `columnNames`; `null` for unknown ones. */
  numbers(row: number): readonly string[] {
    const latencies = latencyMembers(this.shape).map((name) => String(this.latencyOf(row, name)));
    return [...this.members.map((member) => this.textOf(row, member)), ...latencies];
  }

  private textOf(row: number, member: TotalMember): string {
    if (member.kind === "count") return String(this.sums.countOf(row, member.slot));
    if (member.kind === "cost") return costText(this.sums.costOf(row, member.slot));
    if (member.kind === "partial") return String(this.sums.isPartial(row));
    return String(this.quotientOf(row, member.kind));
  }

  private quotientOf(row: number, kind: "cost per trace" | "cost per passed"): number | null {
    const { sums } = this;
    return kind === "cost per trace"
      ? costPer(sums.costOf(row, TOTAL_COST_SLOT), sums.countOf(row, TRACES_SLOT))
      : costPer(sums.ratedCostOf(row), sums.countOf(row, PASSED_SLOT));
  }

  /** Compares rows: larger first, unknown last. */
  compare(one: number, other: number, order: Order): number {
    if (order.kind === "count")
      return this.sums.countOf(other, order.slot) - this.sums.countOf(one, order.slot);
    if (order.kind !== "cost") {
      const valueOf = (row: number): number =>
        (order.kind === "latency" ? this.latencyOf(row, order.name) : this.quotientOf(row, order.kind)) ??
        -Infinity;
      return valueOf(other) - valueOf(one) || 0;
    }
    const costs = [this.sums.costOf(one, order.slot), this.sums.costOf(other, order.slot)] as const;
    if (costs[0] === null || costs[1] === null) return Number(costs[0] === null) - Number(costs[1] === null);
    return compareUsd(costs[1], costs[0]);
  }

  private latencyOf(row: number, name: string): number | null {
    const { aggregations } = this.shape.latency!;
    const aggregation = aggregations.find((one) => one === name);
    return aggregation === undefined
      ? percentileOf(this.sorted!.of(row), Number(name.slice(1)))
      : latencyOf(aggregation, this.sums.latenciesOf(row));
  }
}
