import { assertNever } from "../../shared/assert-never.ts";
import type { Steps } from "../../shared/steps.ts";
import { AggregateValues, MAX_VALUES, percentileOf, type SortedRows } from "../sums/aggregate-values.ts";
import { addUsd, usd, usdText, type Usd } from "../sums/usd.ts";
import { isCost, type Aggregation, type MetricQuery } from "./metrics.ts";

interface Row {
  /** Integer and fraction apart, so that no sum of large numbers is rounded. */
  sum: Usd;
  count: number;
  min: number;
  max: number;
  ones: number;
  zeros: number;
}

/** Values of a metric by row. */
export class MetricRows {
  private readonly query: MetricQuery<string>;
  private readonly rows: Row[] = [];
  /** Rows with an unknown value. */
  private readonly unknown = new Set<number>();
  private readonly values: AggregateValues | undefined;
  private sorted: SortedRows | undefined;

  constructor(query: MetricQuery<string>, metrics: number) {
    this.query = query;
    this.values =
      query.percentiles.length > 0 ? new AggregateValues(Math.floor(MAX_VALUES / metrics)) : undefined;
  }

  add(row: number, value: number | null): void {
    if (value === null) {
      if (this.isCost) this.unknown.add(row);
      return;
    }
    const of = (this.rows[row] ??= { sum: usd(0), count: 0, min: value, max: value, ones: 0, zeros: 0 });
    of.sum = addUsd(of.sum, usd(value));
    of.count++;
    of.min = Math.min(of.min, value);
    of.max = Math.max(of.max, value);
    if (value === this.one) of.ones++;
    if (value === 0) of.zeros++;
    this.values?.add(row, value);
  }

  /** Sorts the values. Call it after the last `add` and before the first `print`. */
  *sort(): Steps<void> {
    if (this.values !== undefined)
      this.sorted = yield* this.values.sortedRows((cell) => cell, this.rows.length);
  }

  /** Prints the requested aggregates, as `,"sum_input_tokens":12`. Without values, sums and counts are 0, the others null. */
  text(row: number): string {
    const { metric, aggregations, percentiles } = this.query;
    let text = "";
    for (const name of aggregations) text += `,"${name}_${metric}":${this.aggregate(name, row)}`;
    for (const percentile of percentiles)
      text += `,"p${percentile}_${metric}":${this.number(this.percentile(row, percentile))}`;
    return text;
  }

  private aggregate(name: Aggregation, at: number): string {
    const row = this.rows[at];
    switch (name) {
      case "sum":
        if (row !== undefined) return this.sum(row.sum);
        // an unknown price makes the sum unknown
        return this.unknown.has(at) ? "null" : "0";
      case "avg":
        return this.number(row === undefined ? null : inUnits(row.sum) / row.count);
      case "min":
        return this.number(row?.min ?? null);
      case "max":
        return this.number(row?.max ?? null);
      case "count":
        return String(row?.count ?? 0);
      case "count_true":
        return String(row?.ones ?? 0);
      case "count_false":
        return String(row?.zeros ?? 0);
      default:
        return assertNever(name);
    }
  }

  private percentile(row: number, percentile: number): number | null {
    return row < this.rows.length ? percentileOf(this.sorted!.of(row), percentile) : null;
  }

  /** Converts picodollars to USD. */
  private get isCost(): boolean {
    return isCost(this.query.metric);
  }

  private get one(): number {
    return this.isCost ? inUnits({ dollars: 1, picodollars: 0 }) : 1;
  }

  private sum(sum: Usd): string {
    return this.isCost ? usdText(sum) : String(inUnits(sum));
  }

  private number(value: number | null): string {
    if (value === null) return "null";
    return this.isCost ? usdText(usd(value)) : String(value);
  }
}

function inUnits({ dollars, picodollars }: Usd): number {
  return dollars * 1e12 + picodollars;
}
