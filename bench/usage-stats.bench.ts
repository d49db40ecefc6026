import { rebuildRollup } from "../src/usage-rollup/verify-rollup.ts";
import { param, sql, trusted, type Sql } from "../src/query/sql.ts";
import { fillCalls } from "./sample-calls.ts";
import { fill } from "./scale.bench.ts";
import {
  COMPILED_AFTER,
  figure,
  ratioAtMost,
  spreadOf,
  timeInTurn,
  type Scenario,
  type ScenarioResult,
  type Spread,
} from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";

const PROJECT = "bench/usage";
const CALLS = Number(process.env["USAGE_STATS_CALLS"] ?? 200_000);
const window = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };
const MONTH_PROJECT = "bench/usage-month";
/** From the first of a month on, 27,777 calls an hour: 20,000,000 fill it, in ten minutes, and are materialized in ten more. */
const MONTH_CALLS = Number(process.env["USAGE_STATS_MONTH_CALLS"] ?? 2_000_000);
const CALLS_PER_HOUR = 27_777;
const HOUR_MS = 3_600_000;

/** Counts by LLM from the stored usage of calls, without costs and without regard to own usage. */
function byHand(project: string, startOf: "toStartOfHour" | "toStartOfDay"): Sql {
  return sql`SELECT ${trusted(startOf)}(started_at) AS at, used.1 AS llm, sum(used.2), sum(used.3), sum(used.4)
    FROM (
      SELECT started_at, arrayJoin(JSONExtract(assumeNotNull(usage), 'Array(Tuple(String, UInt64, UInt64, UInt64))')) AS used
      FROM calls FINAL WHERE project_id = ${param("String", project)} AND deleted_at IS NULL AND usage IS NOT NULL
    )
    GROUP BY at, llm`;
}

const heavy = { name: "bench_by_hand", limits: "heavy" } as const;

/** The same over the records of the usage rollup. */
function sqlOverRollup(group: string): Sql {
  return sql`SELECT toStartOfDay(fromUnixTimestamp64Micro(started_at_us, 'UTC')) AS day, ${trusted(group)} AS name, sum(calls), sum(errors), sum(requests),
      sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cache_read_input_tokens), sum(cache_creation_input_tokens)
    FROM usage_rollup WHERE project_id = ${param("String", MONTH_PROJECT)} AND kind IN (1, 3) GROUP BY day, name`;
}

async function materialize({ engine }: BenchService): Promise<void> {
  await rebuildRollup({ engine, runExclusive: (work) => work(), signal: new AbortController().signal });
}

/** All of a month by day, and its last 24 hours by hour: from the calls, and from the usage rollup. */
async function ofMonth(service: BenchService): Promise<readonly ScenarioResult[]> {
  const { calls } = await fill(service, MONTH_PROJECT, MONTH_CALLS);
  const asked = { project_id: MONTH_PROJECT, group_by: ["llm"], include_costs: true };
  const endMs = Date.parse(window.start) + Math.floor(calls / CALLS_PER_HOUR) * HOUR_MS;
  const lastDay = {
    ...asked,
    start: new Date(endMs - 24 * HOUR_MS).toISOString(),
    end: new Date(endMs).toISOString(),
    granularity: 3600,
  };
  const month = { ...asked, start: window.start, end: "2026-02-01T00:00:00Z", granularity: 86_400 };
  const byUser = { ...month, group_by: ["svc_user_id"] };
  const live = await timeInTurn(1, { month: () => service.ask("/usage/stats", month) });
  const materializing = await timeInTurn(1, { materialize: () => materialize(service) }, 0);
  const times = await timeInTurn(5, {
    month: () => service.ask("/usage/stats", month),
    byUser: () => service.ask("/usage/stats", byUser),
    byHand: () => service.read(byHand(MONTH_PROJECT, "toStartOfDay"), "JSONEachRow", heavy),
    sqlOverRollup: () => service.read(sqlOverRollup("JSONExtractString(price_key, 1)"), "JSONEachRow", heavy),
    byHandByUser: () => service.read(sqlOverRollup("svc_user_id"), "JSONEachRow", heavy),
  });
  const sendCall = senderOf(service);
  const askLastDay = (): Promise<void> => service.ask("/usage/stats", lastDay);
  const ofLastDay = await timeInTurn(15, { sendCall, busy: askLastDay, quiet: askLastDay }, COMPILED_AFTER);
  const count = calls.toLocaleString("en-US");
  const what = `${count} calls, day × LLM, with costs`;
  const perUser = `${count} calls, day × user`;
  const overRollup = { what: "SQL by hand over the rollup's records", spread: times["sqlOverRollup"]! };
  const byUserOverRollup = { what: "SQL by hand over records by user", spread: times["byHandByUser"]! };
  return [
    figure(`${what}, aggregated at query time`, live["month"]!, { unit: "ms" }),
    figure(`materializing them`, materializing["materialize"]!, { unit: "ms" }),
    figure(`materializing one of them`, spreadOf([(materializing["materialize"]!.median * 1000) / calls]), {
      unit: "µs",
    }),
    ratioAtMost(2, { what, subject: times["month"]!, against: overRollup }),
    ratioAtMost(2, {
      what,
      subject: times["month"]!,
      against: { what: "SQL by hand over the usage texts", spread: times["byHand"]! },
    }),
    ratioAtMost(2, { what: perUser, subject: times["byUser"]!, against: overRollup }),
    ratioAtMost(2, { what: perUser, subject: times["byUser"]!, against: byUserOverRollup }),
    atMost(
      50,
      `last 24 hours of ${count} calls, hour × LLM, with costs, after each new call`,
      ofLastDay["busy"]!,
    ),
    figure("the same without new calls", ofLastDay["quiet"]!, { unit: "ms" }),
    ...(await ofTraces(service, calls)),
  ];
}

/** Of whole traces, by a field of their roots: a day and a month. */
async function ofTraces(service: BenchService, calls: number): Promise<readonly ScenarioResult[]> {
  const asked = { project_id: MONTH_PROJECT, of: "traces", group_by: ["svc_user_id"], include_costs: true };
  const day = { ...asked, ...window };
  const month = { ...asked, start: window.start, end: "2026-02-01T00:00:00Z", granularity: 86_400 };
  const { day: ofDay } = await timeInTurn(9, { day: () => service.ask("/usage/stats", day) }, COMPILED_AFTER);
  const { month: ofMonth } = await timeInTurn(5, { month: () => service.ask("/usage/stats", month) });
  const what = `of ${calls.toLocaleString("en-US")} calls, traces by their root's user, with costs`;
  return [atMost(300, `a day ${what}`, ofDay!), atMost(3000, `a month ${what}`, ofMonth!)];
}

/** Sends calls of the current hour. */
function senderOf(service: BenchService): () => Promise<void> {
  let sent = 0;
  return () => {
    const id = `live-${sent++}`;
    const call = { project_id: MONTH_PROJECT, id, trace_id: id, started_at: new Date().toISOString() };
    return service.ask("/call/start", { start: { ...call, op_name: "op", inputs: {}, attributes: {} } });
  };
}

function atMost(ms: number, what: string, subject: Spread): ScenarioResult {
  return figure(what, subject, { unit: "ms", target: { text: `≤ ${ms} ms`, used: subject.median / ms } });
}

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
        byHand: () => service.read(byHand(PROJECT, "toStartOfHour"), "JSONEachRow", heavy),
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
        ...(await ofMonth(service)),
      ];
    } finally {
      await service.close();
    }
  },
};
