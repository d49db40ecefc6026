import type { TimeWindow } from "../buckets/buckets.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import { HOUR_MICROS, hourOf, withinReach, type EpochMicros } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import { OUTCOMES } from "./outcomes.ts";

interface AgentStatsPlan {
  readonly project: Project;
  readonly window: TimeWindow;
  readonly nowUs: EpochMicros;
  /** As `Dimensions.callKey`. */
  readonly key: Sql | undefined;
  readonly maxGroups: number;
}

/** Totals of a group, of the groups beyond the limit, or of all. */
export interface TotalsRow {
  /** Rank of the group, from 1; one more than the limit for the groups beyond it; 0 for all. */
  readonly place: number;
  readonly groups: number;
  readonly group_key: string;
  /** In the order of `OUTCOMES`; null if no point counts it. */
  readonly totals: readonly (number | null)[];
}

const names = Object.keys(OUTCOMES).map(trusted);
const ofKey = names.map((name) => sql`sumKahanOrNullIf(increase, outcome = '${name}') AS ${name}`);
const totals = names.map((name) => sql`sumKahan(${name})`);

/** Prints the statement for the totals of groups. Those with more active time come first, then by key. */
export function printStatement(plan: AgentStatsPlan): Sql {
  return sql`SELECT place, uniqExact(key) AS groups, any(key) AS group_key, [${join(totals, ", ")}] AS totals
    FROM (
      SELECT *, least(row_number() OVER (ORDER BY ifNull(active_seconds, 0) DESC, key), ${param("UInt32", plan.maxGroups + 1)}) AS place
      FROM (SELECT key, ${join(ofKey, ", ")} FROM (${selectIncreases(plan)}) GROUP BY key)
    )
    GROUP BY GROUPING SETS ((), (place)) ORDER BY place`;
}

/** How long tokens and costs that agents report are kept, in microseconds. */
const REPORTED_US = 24 * HOUR_MICROS;

/**
 * Selects `key`, `outcome` and `increase` of each point in the window. A cumulative point counts since the one before in its
 * series, which may lie before the window, or since the start of the series; a smaller value than before is a reset. Of what
 * expires, the first point that is kept counts nothing if its series is older.
 */
function selectIncreases({ project, window, nowUs, key = sql`''` }: AgentStatsPlan): Sql {
  const [start, end] = [withinReach(window.startUs), withinReach(window.endUs)];
  const startUs = param("Int64", start);
  const startHour = param("Int64", hourOf(start));
  const keptUs = param("Int64", nowUs - REPORTED_US);
  const expires = sql`startsWith(outcome, 'reported_')`;
  const before = sql`project_id = ${param("String", project)} AND hour <= ${param("Int64", hourOf(end))}
    AND at_us < ${param("Int64", end)} AND (at_us >= ${keptUs} OR NOT ${expires})`;
  const inWindow = sql`${before} AND hour >= ${startHour} AND at_us >= ${startUs}`;
  const open = sql`FROM agent_points WHERE is_delta = 0 AND ${inWindow}`;
  const startedHour = sql`intDiv(started_at_us, ${param("Int64", HOUR_MICROS)})`;
  return sql`SELECT ${key} AS key, outcome, value AS increase FROM agent_points FINAL WHERE is_delta = 1 AND ${inWindow}
    UNION ALL
    SELECT key, outcome,
      multiIf(value < previous, value, point = 1 AND started_at_us < ${keptUs} AND ${expires}, 0, value - previous) AS increase
    FROM (
      SELECT *, lagInFrame(value, 1, toFloat64(0)) OVER of_series AS previous, row_number() OVER of_series AS point
      FROM (
        SELECT ${key} AS key, outcome, series, started_at_us, at_us, value FROM agent_points FINAL
        WHERE is_delta = 0 AND ${before}
          AND hour >= (SELECT ifNull(minOrNull(least(${startedHour}, ${startHour})), ${startHour}) ${open})
          AND (series, started_at_us) IN (SELECT series, started_at_us ${open})
      )
      WINDOW of_series AS (PARTITION BY series, started_at_us ORDER BY at_us ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    )
    WHERE at_us >= ${startUs}`;
}
