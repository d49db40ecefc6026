import { param, sql, trusted } from "../src/query/sql.ts";
import { noteFilled } from "./note-filled.ts";
import {
  COMPILED_AFTER,
  figure,
  ratioAtMost,
  spreadOf,
  timeInTurn,
  type Scenario,
  type ScenarioResult,
} from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";

const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
const CALLS_PER_HOUR = 27_777;
const CALLS_PER_TRACE = 20;
const FRESH_CALLS = 5000;
const ROUNDS = 9;
/** Filling ends here, so that the whole stays below fifteen minutes. */
const FILL_MS = 10 * 60_000;
const CALLS_PER_FILL = 1_000_000;
const LARGE_CALLS = Number(process.env["SCALE_CALLS"] ?? 20_000_000);
const SMALL_CALLS = 1_000_000;

/** A project with as many calls an hour as the other, and more or fewer hours. */
interface Filled {
  readonly project: string;
  readonly calls: number;
}

/**
 * Traces of twenty calls in random order, each some seconds long, with payloads of 100 bytes, of 1 KB for one in
 * twenty and of 20 KB for one in a thousand.
 */
export async function fill(service: BenchService, project: string, target: number): Promise<Filled> {
  const began = performance.now();
  let calls = 0;
  for (; calls < target && performance.now() - began < FILL_MS; calls += CALLS_PER_FILL) {
    await service.engine.command(trusted(fillStatement(project, calls)), {
      name: "bench_fill",
      limits: "maintenance",
    });
  }
  await noteFilled(service.engine, project);
  return { project, calls };
}

function fillStatement(project: string, from: number): string {
  const hash = (...of: string[]): string => `lower(hex(sipHash64('${project}', ${of.join(", ")})))`;
  return `
    INSERT INTO calls (project_id, hour, trace_id, id, parent_id, op_name, started_at, thread_id, svc_user_id,
                       inputs, attributes, inclusive, ended_at, output, summary, exception, usage)
    WITH intDiv(number, ${CALLS_PER_TRACE}) AS trace, number % ${CALLS_PER_TRACE} AS place,
      fromUnixTimestamp64Milli(toInt64(${BEGIN_MS} + trace * ${(HOUR_MS * CALLS_PER_TRACE) / CALLS_PER_HOUR} + place * 150), 'UTC') AS began,
      ['gpt-4o-2024-08-06', 'claude-sonnet-4-5', 'gpt-4o-mini'][number % 3 + 1] AS llm,
      multiIf(number % 1000 = 3, 1250, number % 20 = 7, 60, 6) AS words
    SELECT '${project}', intDiv(toUnixTimestamp64Milli(began), ${HOUR_MS}), concat(${hash("trace", "1")}, ${hash("trace", "2")}),
      ${hash("number", "3")}, if(place = 0, '', ${hash(`trace * ${CALLS_PER_TRACE} + intDiv(place - 1, 4)`, "3")}),
      concat('op-', toString(number % 7)), began, concat('thread-', toString(intDiv(trace, 5))), concat('user-', toString(trace % 500)),
      concat('{"n":', toString(number % 1000), ',"model":"', llm, '","text":"',
        arrayStringConcat(arrayMap(word -> hex(sipHash64(number, word)), range(words))), '"}'),
      '{"env":"prod"}', 0, addMilliseconds(began, 900), '{"answer":"yes"}',
      concat('{"usage":{"', llm, '":{"requests":1,"prompt_tokens":1200,"completion_tokens":80}}}'), '',
      concat('[["', llm, '",1,', toString(1000 + number % 500), ',80,', toString(1080 + number % 500), ',200,0,0]]')
    FROM numbers(${from}, ${CALLS_PER_FILL}) SETTINGS max_insert_threads = 1`;
}

/** The last whole hour, in which calls still arrive. */
export function lastHour({ calls }: Filled): number {
  return BEGIN_MS + (Math.floor(calls / CALLS_PER_HOUR) - 1) * HOUR_MS;
}

/** Starts and ends in separate messages, while the store is queried. */
async function sendFresh(service: BenchService, filled: Filled): Promise<void> {
  const { project: project_id } = filled;
  const at = lastHour(filled) + HOUR_MS / 2;
  const calls = Array.from({ length: FRESH_CALLS }, (_, number) => ({
    id: `fresh-${number}`,
    trace_id: `fresh-trace-${Math.floor(number / CALLS_PER_TRACE)}`,
    parent_id: number % CALLS_PER_TRACE === 0 ? null : `fresh-${number - (number % CALLS_PER_TRACE)}`,
    started_at: new Date(at + number).toISOString(),
  }));
  const starts = calls.map((call) => ({
    mode: "start",
    req: { start: { project_id, op_name: "op", inputs: { n: 7 }, attributes: {}, ...call } },
  }));
  const ended_at = new Date(at + HOUR_MS / 4).toISOString();
  const ends = calls.map(({ id }) => ({
    mode: "end",
    req: { end: { project_id, id, ended_at, summary: {} } },
  }));
  for (const batch of [starts, ends]) await service.ask("/call/upsert_batch", { batch });
}

const field = ($getField: string): object => ({ $getField });
const literal = ($literal: unknown): object => ({ $literal });

function startedWithin(fromMs: number, toMs: number): readonly object[] {
  return [
    { $gte: [field("started_at"), literal(new Date(fromMs).toISOString())] },
    { $lt: [field("started_at"), literal(new Date(toMs).toISOString())] },
  ];
}

const roots = { trace_roots_only: true };

/** The questions, by name. */
const questions: Readonly<Record<string, (service: BenchService, filled: Filled) => Promise<void>>> = {
  "roots of one hour": (service, filled) => {
    const at = lastHour(filled);
    const query = { $expr: { $and: startedWithin(at, at + HOUR_MS) } };
    return service.ask("/trace/usage", { project_id: filled.project, filter: roots, query });
  },
  "roots of one minute": (service, filled) => {
    const at = lastHour(filled);
    const query = { $expr: { $and: startedWithin(at, at + 60_000) } };
    return service.ask("/trace/usage", { project_id: filled.project, filter: roots, query });
  },
  "a payload condition within one hour": (service, filled) => {
    const at = lastHour(filled);
    const is8 = { $eq: [field("inputs.n"), literal(8)] };
    const query = { $expr: { $and: [is8, ...startedWithin(at, at + HOUR_MS)] } };
    return service.ask("/trace/usage", { project_id: filled.project, query });
  },
  "newest 50 roots": (service, filled) =>
    service.ask("/calls/stream_query", {
      project_id: filled.project,
      filter: roots,
      sort_by: [{ field: "started_at", direction: "desc" }],
      limit: 50,
      columns: ["id", "op_name", "started_at"],
    }),
};

async function oneTrace(service: BenchService, { project }: Filled): Promise<void> {
  await service.ask("/trace/usage", {
    project_id: project,
    filter: { trace_ids: [await someTrace(service, project)] },
  });
}

const tracesAsked = new Map<string, string>();
async function someTrace({ engine }: BenchService, project: string): Promise<string> {
  const known = tracesAsked.get(project);
  if (known !== undefined) return known;
  const [row] = await engine.rows<{ trace_id: string }>(
    sql`SELECT trace_id FROM trace_hours WHERE project_id = ${param("String", project)} AND NOT startsWith(trace_id, 'fresh') LIMIT 1 OFFSET 1000`,
    { name: "bench_trace" },
  );
  tracesAsked.set(project, row!.trace_id);
  return row!.trace_id;
}

/** The engine alone reading the rows of an hour. */
async function floor(service: BenchService, filled: Filled): Promise<void> {
  const hour = lastHour(filled) / HOUR_MS;
  await service.read(
    sql`SELECT trace_id, id, parent_id, ended_at, inclusive, started_at, usage FROM calls FINAL
        PREWHERE project_id = ${param("String", filled.project)} AND hour = ${param("Int64", hour)}
        WHERE deleted_at IS NULL AND started_at IS NOT NULL`,
    "Native",
    { name: "bench_floor", limits: "heavy" },
  );
}

async function compare(service: BenchService, small: Filled, large: Filled): Promise<ScenarioResult[]> {
  const sizes = `${large.calls.toLocaleString("en")} calls`;
  const against = `${small.calls.toLocaleString("en")} calls, as many an hour`;
  const results: ScenarioResult[] = [];
  for (const [what, ask] of [...Object.entries(questions), ["one trace by its id", oneTrace] as const]) {
    const times = await timeInTurn(
      ROUNDS,
      {
        large: () => ask(service, large),
        small: () => ask(service, small),
        floor: () => floor(service, large),
      },
      COMPILED_AFTER,
    );
    const limit = what === "one trace by its id" ? 1.5 : 1.3;
    results.push(
      ratioAtMost(limit, {
        what: `${what}: ${sizes}, merges stopped, ${FRESH_CALLS.toLocaleString("en")} fresh`,
        subject: times["large"]!,
        against: { what: against, spread: times["small"]! },
      }),
    );
    if (what === "roots of one hour") {
      const spread = times["floor"]!;
      results.push(
        ratioAtMost(3, {
          what: `${what}: ${sizes}`,
          subject: times["large"]!,
          against: { what: "the engine reading that hour's rows", spread },
        }),
      );
    }
  }
  return results;
}

export const scenario: Scenario = {
  name: "scale",
  async run() {
    const service = await startService();
    try {
      const began = performance.now();
      const small = await fill(service, "scale/small", SMALL_CALLS);
      const large = await fill(service, "scale/large", LARGE_CALLS);
      const filledMs = performance.now() - began;
      await service.engine.command(sql`SYSTEM STOP MERGES`, { name: "bench_stop_merges" });
      for (const filled of [small, large]) await sendFresh(service, filled);
      const [disk] = await service.engine.rows<{ bytes: number }>(
        sql`SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()`,
        { name: "bench_disk" },
      );
      const perCall = disk!.bytes / (small.calls + large.calls);
      return [
        ...(await compare(service, small, large)),
        figure("bytes on disk for one of these calls, of all tables", spreadOf([perCall]), { unit: "bytes" }),
        figure("filling all of them by SQL", spreadOf([filledMs]), { unit: "ms" }),
      ];
    } finally {
      await service.close();
    }
  },
};
