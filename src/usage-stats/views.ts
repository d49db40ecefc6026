import type { Cells } from "./cells.ts";
import { aggregateOf, latencyNames, percentileOf, type LatencyQuestion } from "./latency.ts";
import { COST_MEMBERS, COUNT_MEMBERS } from "./members.ts";
import type { Order } from "./plan.ts";
import { Sums } from "./sums.ts";
import { compareUsd, usdText } from "./usd.ts";

/** How totals are told. */
export interface TotalShape {
  readonly withCosts: boolean;
  readonly latency: LatencyQuestion | undefined;
}

/** Cells put together in rows: those of a group, of a bucket, of a window. */
export class View {
  private readonly sums: Sums;
  private readonly sorted: readonly Float64Array[] | undefined;
  private readonly shape: TotalShape;

  /** `rowOf`: the row of a cell, -1 for none. */
  constructor(
    cells: Cells,
    shape: TotalShape,
    { rows, rowOf }: { rows: number; rowOf: (cell: number) => number },
  ) {
    this.shape = shape;
    this.sums = Sums.ofRows(rows, shape);
    for (let cell = 0; cell < cells.sums.length; cell++) {
      const row = rowOf(cell);
      if (row >= 0) this.sums.addFrom(cells.sums, cell, row);
    }
    this.sorted = cells.latencies?.sortedRows(rowOf, rows);
  }

  hasCalls(row: number): boolean {
    return this.sums.countOf(row, 0) > 0 || this.sums.countOf(row, 2 + 2) > 0;
  }

  /** The JSON of a row's total. */
  text(row: number): string {
    const { sums, shape } = this;
    let text = "";
    for (const [slot, name] of COUNT_MEMBERS.entries()) {
      text += `${slot === 0 ? "{" : ","}"${name}":${sums.countOf(row, slot)}`;
    }
    if (shape.withCosts) {
      for (const [slot, name] of COST_MEMBERS.entries()) {
        const cost = sums.costOf(row, slot);
        text += `,"${name}":${cost === null ? "null" : usdText(cost)}`;
      }
    }
    if (shape.latency === undefined) return `${text}}`;
    const numbers = latencyNames(shape.latency).map((name) => `"${name}":${this.latencyOf(row, name)}`);
    return `${text},"latency_ms":{${numbers.join(",")}}}`;
  }

  /** The larger row first; what is not known last. */
  compare(one: number, other: number, order: Order): number {
    if (order.kind === "count")
      return this.sums.countOf(other, order.slot) - this.sums.countOf(one, order.slot);
    if (order.kind === "latency")
      return (
        (this.latencyOf(other, order.name) ?? -Infinity) - (this.latencyOf(one, order.name) ?? -Infinity) || 0
      );
    const costs = [this.sums.costOf(one, order.slot), this.sums.costOf(other, order.slot)] as const;
    if (costs[0] === null || costs[1] === null) return Number(costs[0] === null) - Number(costs[1] === null);
    return compareUsd(costs[1], costs[0]);
  }

  private latencyOf(row: number, name: string): number | null {
    const { aggregations } = this.shape.latency!;
    const aggregation = aggregations.find((one) => one === name);
    return aggregation === undefined
      ? percentileOf(this.sorted![row]!, Number(name.slice(1)))
      : aggregateOf(aggregation, this.sums.latenciesOf(row));
  }
}
