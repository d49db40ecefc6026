import { rebuildRollup } from "../src/usage-rollup/verify-rollup.ts";
import { param, sql, type Sql } from "../src/query/sql.ts";
import { fill } from "./scale.bench.ts";
import {
  COMPILED_AFTER,
  figure,
  ratioAtMost,
  timeInTurn,
  type Scenario,
  type ScenarioResult,
  type Spread,
} from "./scenario.ts";
import { startService } from "./service.ts";

const PROJECT = "bench/traces";
/** From the first of a month on, 27,777 calls an hour: 20,000,000 fill it. */
const CALLS = Number(process.env["TRACES_CALLS"] ?? 1_000_000);
const BEGIN_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const ORDERS = ["started_at", "total_cost", "latency", "failed", "wasted_cost"] as const;
const FIELDS = ["status", "op_name", "llm", "provider", "svc_user_id", "thread_id"];

/** The most expensive traces of a window, from the records of the rollup, at one price. */
function topByHand(hours: number): Sql {
  const until = (BEGIN_MS + hours * HOUR_MS) * 1000;
  return sql`SELECT trace_id, sum(uncached_prompt_tokens * 2500000 + completion_tokens * 10000000) AS cost, sum(calls), sum(errors)
    FROM usage_rollup WHERE project_id = ${param("String", PROJECT)} AND kind IN (1, 3) AND started_at_us < ${param("Int64", until)}
    GROUP BY trace_id ORDER BY cost DESC LIMIT 50`;
}

function within(ms: number, what: string, subject: Spread): ScenarioResult {
  return figure(what, subject, { unit: "ms", target: { text: `≤ ${ms} ms`, used: subject.median / ms } });
}

export const scenario: Scenario = {
  name: "traces",
  async run() {
    const service = await startService();
    try {
      const { calls } = await fill(service, PROJECT, CALLS);
      const { engine } = service;
      await rebuildRollup({ engine, runExclusive: (work) => work(), signal: new AbortController().signal });
      const count = calls.toLocaleString("en-US");
      const windows = [
        { name: "a day", hours: 24, ms: 300, warmUp: COMPILED_AFTER },
        { name: "a month", hours: 31 * 24, ms: 3000, warmUp: 1 },
      ];
      const results: ScenarioResult[] = [];
      for (const { name, hours, ms, warmUp } of windows) {
        const asked = {
          project_id: PROJECT,
          start: new Date(BEGIN_MS).toISOString(),
          end: new Date(BEGIN_MS + hours * HOUR_MS).toISOString(),
        };
        const pages = ORDERS.map((order_by) => [
          order_by,
          () => service.ask("/traces/query", { ...asked, order_by }),
        ]);
        const questions = {
          ...(Object.fromEntries(pages) as Record<(typeof ORDERS)[number], () => Promise<void>>),
          anyCall: () =>
            service.ask("/traces/query", { ...asked, any_call: { filter: { op_names: ["op-3"] } } }),
          facets: () => service.ask("/traces/facets", { ...asked, fields: FIELDS }),
          byHand: () =>
            service.read(topByHand(hours), "JSONEachRow", { name: "bench_by_hand", limits: "heavy" }),
        };
        const times = await timeInTurn(5, questions, warmUp);
        const what = (page: string): string => `${page} of ${name} of ${count} calls`;
        results.push(
          ...ORDERS.map((order) => within(ms, what(`first page by ${order}`), times[order]!)),
          within(ms, what("first page of traces with a call of an operation"), times["anyCall"]!),
          within(ms, what(`${FIELDS.length} facets`), times["facets"]!),
          ratioAtMost(4, {
            what: what("first page by total_cost"),
            subject: times["total_cost"]!,
            against: { what: "SQL by hand over the rollup's records", spread: times["byHand"]! },
          }),
        );
      }
      return results;
    } finally {
      await service.close();
    }
  },
};
