import { param, sql, type Sql } from "../src/query/sql.ts";
import { fillCalls } from "./sample-calls.ts";
import { ratioAtMost, timeInTurn, type Scenario } from "./scenario.ts";
import { startService } from "./service.ts";

const PROJECT = "bench/usage";
const CALLS = Number(process.env["USAGE_STATS_CALLS"] ?? 200_000);
const window = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };

/** Counts by hour and LLM out of the usage that calls have stored, costs and what is a call's own left aside. */
const byHand: Sql = sql`SELECT toStartOfHour(started_at) AS at, used.1 AS llm, sum(used.2), sum(used.3), sum(used.4)
  FROM (
    SELECT started_at, arrayJoin(JSONExtract(assumeNotNull(usage), 'Array(Tuple(String, UInt64, UInt64, UInt64))')) AS used
    FROM calls FINAL WHERE project_id = ${param("String", PROJECT)} AND deleted_at IS NULL AND usage IS NOT NULL
  )
  GROUP BY at, llm`;

export const scenario: Scenario = {
  name: "usage-stats",
  async run() {
    const service = await startService();
    try {
      await fillCalls(service.engine, { project: PROJECT, calls: CALLS, callsPerTrace: 20 });
      const stats = {
        project_id: PROJECT,
        ...window,
        granularity: 3600,
        group_by: ["llm"],
        include_costs: true,
      };
      const roots = { project_id: PROJECT, filter: { trace_roots_only: true }, include_costs: true };
      const times = await timeInTurn(5, {
        stats: () => service.ask("/usage/stats", stats),
        roots: () => service.ask("/trace/usage", { ...roots, limit: 1_000_000 }),
        byHand: () => service.read(byHand, "JSONEachRow", { name: "bench_by_hand", limits: "heavy" }),
      });
      const what = `${CALLS.toLocaleString("en-US")} calls, hour × LLM, with costs`;
      const against = (text: string, name: string) => ({ what: text, spread: times[name]! });
      return [
        ratioAtMost(1.5, {
          what,
          subject: times["stats"]!,
          against: against("/trace/usage of the roots", "roots"),
        }),
        ratioAtMost(2, {
          what,
          subject: times["stats"]!,
          against: against("SQL by hand over the usage texts", "byHand"),
        }),
      ];
    } finally {
      await service.close();
    }
  },
};
