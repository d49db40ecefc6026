import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import { assertNever } from "../../shared/assert-never.ts";
import type { Buckets } from "../../buckets/buckets.ts";
import { feedbackOf } from "./feedback-rows.ts";
import type { GroupKeys } from "./group-keys.ts";
import type { Aggregation, Metric } from "./metrics.ts";
import type { GroupedPlan, StatsPlan } from "./plan.ts";

/** Result row: a bucket that has feedback, or the whole window; of all feedback, of a group, or of the groups beyond the limit. */
export interface StatsRow {
  /** Rank of the group, from 1; one more than the limit for the groups beyond it; 0 for all feedback. */
  readonly place: number;
  readonly groups: number;
  /** Key of a single group as JSON, in its row of the window; else ''. */
  readonly group_key: string;
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
export function printStatement({ rows, buckets, metrics }: StatsPlan): Sql {
  return sql`SELECT 0 AS place, 0 AS groups, '' AS group_key, ${numbersOf(metrics)}
    FROM (SELECT ${bucketAndValues(buckets, metrics)} FROM ${feedbackOf(rows)})
    GROUP BY start_us WITH ROLLUP`;
}

/** Prints the statement for the same rows, and for each group and bucket. Groups with more feedback come first, then by key. */
export function printGroupedStatement(
  { rows, buckets, metrics, grouping }: GroupedPlan,
  { callId, calls, noCall }: GroupKeys,
): Sql {
  return sql`SELECT place, uniqExact(key) AS groups, if(is_window = 1 AND groups = 1, any(key), '') AS group_key,
      ${numbersOf(metrics)}
    FROM (
      SELECT *, least(dense_rank() OVER (ORDER BY of_key DESC, key), ${param("UInt32", grouping.maxGroups + 1)}) AS place
      FROM (
        SELECT *, count() OVER (PARTITION BY key) AS of_key
        FROM (
          SELECT rated.*, if(about.key = '', ${noCall}, about.key) AS key
          FROM (SELECT ${callId} AS call_id, ${bucketAndValues(buckets, metrics)} FROM ${feedbackOf(rows)}) AS rated
          LEFT JOIN (${calls}) AS about ON rated.call_id = about.id
        )
      )
    )
    GROUP BY GROUPING SETS ((), (start_us), (place), (place, start_us))`;
}

function numbersOf(metrics: readonly Metric[]): Sql {
  return sql`grouping(start_us) AS is_window, start_us, count() AS row_count, ${outputsOf(metrics)} AS outputs`;
}

function bucketAndValues({ startsUs }: Buckets, metrics: readonly Metric[]): Sql {
  const values = metrics.map((metric, index) => sql`, ${valueOf(metric)} AS ${valueName(index)}`);
  const microseconds = sql`toUnixTimestamp64Micro(created_at)`;
  return sql`roundDown(${microseconds}, ${param("Array(Int64)", startsUs)}) AS start_us${join(values, "")}`;
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
