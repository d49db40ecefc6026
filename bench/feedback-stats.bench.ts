import { StorageError } from "../src/store/storage-error.ts";
import { planStats } from "../src/feedback/stats/plan.ts";
import { printStatement } from "../src/feedback/stats/statement.ts";
import { statsRequest } from "../src/feedback/stats/schema.ts";
import { param, sql, trusted, type Sql } from "../src/query/sql.ts";
import type { Project } from "../src/shared/project.ts";
import { fillFeedback } from "./sample-feedback.ts";
import { figure, ratioAtMost, spreadOf, timeInTurn, type Scenario, type ScenarioResult } from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";

const PROJECT = "bench/feedback";
const ZONE = "America/New_York";
const ROWS = 1_000_000;
const DAYS = 30;
const START = Date.UTC(2026, 0, 1, 5);

/** The hand-written statement: local days, and the window's numbers. `value` reads the score. */
function byHand(value: string): Sql {
  return sql`SELECT toStartOfDay(created_at, ${param("String", ZONE)}) AS day, count(), avg(value), quantilesExactInclusive(0.5, 0.95)(value)
    FROM (
      SELECT created_at, ${trusted(value)} AS value FROM feedback FINAL
      WHERE project_id = ${param("String", PROJECT)} AND deleted = 0
        AND created_at >= fromUnixTimestamp64Milli(toInt64(${param("Int64", START)}))
        AND created_at < fromUnixTimestamp64Milli(toInt64(${param("Int64", START + DAYS * 86_400_000)}))
    )
    GROUP BY day WITH ROLLUP ORDER BY day`;
}

const path = "payload, 'output', 'score'";
const readings = {
  plain: `JSONExtractFloat(${path})`,
  typed: `if(JSONType(${path}) IN ('Int64', 'UInt64', 'Double'), JSONExtractFloat(${path}), NULL)`,
  column: "numbers['output.score']",
};

const request = {
  project_id: PROJECT,
  start: new Date(START).toISOString(),
  end: new Date(START + DAYS * 86_400_000).toISOString(),
  granularity: 86_400,
  timezone: ZONE,
  metrics: [{ json_path: "output.score", aggregations: ["avg"], percentiles: [50, 95] }],
};

async function days(service: BenchService): Promise<ScenarioResult[]> {
  const run = (value: string) => () =>
    service.read(byHand(value), "JSONEachRow", { name: "bench_by_hand", limits: "heavy" });
  const times = await timeInTurn(15, {
    request: () => service.ask("/feedback/stats", request),
    plain: run(readings.plain),
    typed: run(readings.typed),
    column: run(readings.column),
  });
  const what = "1,000,000 rows, local days, avg + p50 + p95";
  const against = (text: string, name: string) => ({ what: text, spread: times[name]! });
  const subject = times["request"]!;
  return [
    ratioAtMost(1.2, { what, subject, against: against("SQL by hand over the JSON", "plain") }),
    ratioAtMost(1.2, { what, subject, against: against("such SQL, numbers only", "typed") }),
    ratioAtMost(1.2, { what, subject, against: against("SQL by hand over the path columns", "column") }),
  ];
}

async function buckets(service: BenchService): Promise<ScenarioResult> {
  const times = await timeInTurn(5, {
    request: () => service.ask("/feedback/stats", { ...request, granularity: 300 }),
  });
  return figure("the same in 8,640 buckets of 5 minutes", times["request"]!, { unit: "ms" });
}

/** The least memory with which the engine answers the request, found by bisection. */
async function memory({ engine }: BenchService): Promise<ScenarioResult> {
  const asked = statsRequest({ maxMetrics: 100, maxPercentiles: 50 }).parse(request);
  const statement = printStatement(planStats(PROJECT as Project, asked, Date.now()));
  let enough = 1024;
  let tooLittle = 0;
  while (enough - tooLittle > 1) {
    const mib = Math.floor((enough + tooLittle) / 2);
    const limited = sql`${statement} SETTINGS max_memory_usage = ${trusted(String(mib * 2 ** 20))} FORMAT Null`;
    const answered = await engine.command(limited, { name: "bench_memory" }).then(
      () => true,
      (error: unknown) => error instanceof StorageError && error.kind !== "memory",
    );
    if (answered) enough = mib;
    else tooLittle = mib;
  }
  return figure("memory the engine needs for it", spreadOf([enough]), { unit: "MB" });
}

export const scenario: Scenario = {
  name: "feedback-stats",
  async run() {
    const service = await startService();
    try {
      await fillFeedback(service.engine, { project: PROJECT, rows: ROWS, startMs: START, days: DAYS });
      return [...(await days(service)), await buckets(service), await memory(service)];
    } finally {
      await service.close();
    }
  },
};
