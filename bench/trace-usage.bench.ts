import { param, sql, type Sql } from "../src/query/sql.ts";
import { fillCalls } from "./sample-calls.ts";
import {
  COMPILED_AFTER,
  fasterAtLeast,
  figure,
  ratioAtMost,
  timeInTurn,
  type Scenario,
  type ScenarioResult,
} from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";

const TRACE = "trace-00000000";

/** The floor: the engine's time to produce the rows of the answer. */
function rowsOf(project: string, condition: Sql): Sql {
  return sql`SELECT trace_id, id, parent_id, ended_at, inclusive, started_at, usage FROM calls FINAL
             PREWHERE project_id = ${param("String", project)} AND ${condition} WHERE deleted_at IS NULL`;
}

/** The statement without Sumtree: the closure of the tree, joined with the usage of each call. */
function recursiveSql(project: string): Sql {
  return sql`WITH RECURSIVE tree AS (
      SELECT id, ifNull(parent_id, '') AS parent_id, usage FROM calls FINAL
      PREWHERE project_id = ${param("String", project)} AND trace_id = ${param("String", TRACE)}
    ), below AS (
      SELECT id AS root, id FROM tree
      UNION ALL
      SELECT below.root, tree.id FROM below JOIN tree ON tree.parent_id = below.id
    )
    SELECT root, u.1 AS llm, sum(u.2), sum(u.3), sum(u.4), sum(u.5), sum(u.6), sum(u.7)
    FROM (SELECT root, arrayJoin(JSONExtract(assumeNotNull(tree.usage),
            'Array(Tuple(String, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt8))')) AS u
          FROM below JOIN tree ON tree.id = below.id)
    GROUP BY root, llm`;
}

async function oneTrace(service: BenchService): Promise<ScenarioResult[]> {
  const project = "bench/ten-thousand";
  await fillCalls(service.engine, { project, calls: 10_000, callsPerTrace: 10_000 });
  const body = { project_id: project, filter: { trace_ids: [TRACE] } };
  const inTrace = sql`trace_id = ${param("String", TRACE)}`;
  const alternatives = {
    request: () => service.ask("/trace/usage", body),
    costs: () => service.ask("/trace/usage", { ...body, include_costs: true }),
    floor: () => service.read(rowsOf(project, inTrace), "Native", { name: "bench_floor" }),
  };
  const times = await timeInTurn(25, alternatives, COMPILED_AFTER);
  const recursive = await timeInTurn(3, {
    cte: () =>
      service.read(recursiveSql(project), "JSONEachRow", {
        name: "bench_cte",
        limits: "maintenance",
      }),
  });
  const [request, costs] = [times["request"]!, times["costs"]!];
  const what = "one trace of 10,000 calls";
  return [
    ratioAtMost(3, { what, subject: request, against: { what: "engine floor", spread: times["floor"]! } }),
    fasterAtLeast(2, {
      what,
      subject: request,
      against: { what: "recursive CTE", spread: recursive["cte"]! },
    }),
    ratioAtMost(1.3, {
      what: `${what}, with costs`,
      subject: costs,
      against: { what: "without costs", spread: request },
    }),
  ];
}

async function largeTrace(service: BenchService): Promise<ScenarioResult[]> {
  const project = "bench/hundred-thousand";
  await fillCalls(service.engine, { project, calls: 100_000, callsPerTrace: 100_000 });
  const times = await timeInTurn(15, {
    request: () =>
      service.ask("/trace/usage", { project_id: project, filter: { trace_ids: [TRACE] }, limit: 1_000_000 }),
    floor: () => service.read(rowsOf(project, sql`1`), "Native", { name: "bench_floor" }),
  });
  return [
    ratioAtMost(4, {
      what: "one trace of 100,000 calls",
      subject: times["request"]!,
      against: { what: "engine floor", spread: times["floor"]! },
    }),
  ];
}

async function manyTraces(service: BenchService): Promise<ScenarioResult[]> {
  const project = "bench/million";
  await fillCalls(service.engine, { project, calls: 1_000_000, callsPerTrace: 1000 });
  const times = await timeInTurn(5, {
    roots: () => service.ask("/trace/usage", { project_id: project, filter: { trace_roots_only: true } }),
    floor: () => service.read(rowsOf(project, sql`1`), "Native", { name: "bench_floor", limits: "heavy" }),
  });
  const whole = await timeInTurn(3, {
    request: () => service.ask("/trace/usage", { project_id: project, limit: 1_000_000 }),
  });
  return [
    ratioAtMost(1.5, {
      what: "roots of 1,000 traces of 1,000 calls",
      subject: times["roots"]!,
      against: { what: "reading all their calls once", spread: times["floor"]! },
    }),
    figure("1,000,000 calls in 1,000 traces, streamed", whole["request"]!, { unit: "ms" }),
  ];
}

export const scenario: Scenario = {
  name: "trace-usage",
  async run() {
    const service = await startService();
    try {
      return [...(await oneTrace(service)), ...(await largeTrace(service)), ...(await manyTraces(service))];
    } finally {
      await service.close();
    }
  },
};
