import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import { assertNever } from "../../shared/assert-never.ts";
import { feedbackOf, type FeedbackRows } from "./feedback-rows.ts";
import type { Aggregation, Metric } from "./metrics.ts";

/** Result row: a bucket that has feedback, or the whole window. */
export interface StatsRow {
  readonly is_window: 0 | 1;
  readonly start_us: number;
  readonly row_count: number;
  /** One per output, metric by metric. Null without values to aggregate, or if the result is not finite. */
  readonly outputs: readonly (number | null)[];
}

/**
 * Prints the statement for buckets and window: one statement, so that both cover the same rows. The window's row merges
 * the states of the buckets and is missing if there are no rows.
 */
export function printStatement(
  rows: FeedbackRows,
  startsUs: readonly number[],
  metrics: readonly Metric[],
): Sql {
  const values = metrics.map((metric, index) => sql`, ${valueOf(metric)} AS ${valueName(index)}`);
  return sql`SELECT grouping(start_us) AS is_window, start_us, count() AS row_count, ${outputsOf(metrics)} AS outputs
    FROM (
      SELECT roundDown(toUnixTimestamp64Micro(created_at), ${param("Array(Int64)", startsUs)}) AS start_us${join(values, "")}
      FROM ${feedbackOf(rows)}
    )
    GROUP BY start_us WITH ROLLUP`;
}

function valueName(index: number): Sql {
  return trusted(`value_${index}`);
}

/** Prints the value of a row: a number, 0 or 1 for a boolean, 1 for any scalar of a categorical metric; else NULL. */
function valueOf({ valueType, path }: Metric): Sql {
  const at = param("String", path);
  switch (valueType) {
    case "numeric":
      return sql`arrayElementOrNull(numbers, ${at})`;
    case "boolean":
      return sql`arrayElementOrNull(booleans, ${at})`;
    case "categorical":
      return sql`if(has(texts, ${at}) OR mapContains(numbers, ${at}) OR mapContains(booleans, ${at}), 1, NULL)`;
    default:
      return assertNever(valueType);
  }
}

const aggregates = {
  sum: (value) => sql`ifNull(sumKahan(${value}), 0)`,
  avg: (value) => sql`sumKahan(${value}) / count(${value})`,
  min: (value) => sql`min(${value})`,
  max: (value) => sql`max(${value})`,
  count: (value) => sql`count(${value})`,
  count_true: (value) => sql`countIf(${value} = 1)`,
  count_false: (value) => sql`countIf(${value} = 0)`,
} satisfies Record<Aggregation, (value: Sql) => Sql>;

function outputsOf(metrics: readonly Metric[]): Sql {
  const arrays = metrics.flatMap((metric, index) => {
    const value = valueName(index);
    const numbers = metric.aggregations.map((name) => sql`toFloat64(${aggregates[name](value)})`);
    const levels = metric.percentiles.map((percentile) => sql`${param("Float64", percentile / 100)}`);
    const quantiles = sql`quantilesExactInclusive(${join(levels, ", ")})(${value})`;
    return [sql`[${join(numbers, ", ")}]`, ...(levels.length === 0 ? [] : [quantiles])];
  });
  return arrays.length === 0 ? sql`emptyArrayFloat64()` : sql`arrayConcat(${join(arrays, ", ")})`;
}
