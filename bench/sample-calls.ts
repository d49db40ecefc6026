import type { Engine } from "../src/store/engine.ts";
import { sql, trusted } from "../src/query/sql.ts";
import { noteFilled } from "./note-filled.ts";

export interface SampleCalls {
  readonly project: string;
  readonly calls: number;
  readonly callsPerTrace: number;
  /** Children of a call. Default: ten. */
  readonly fanOut?: number;
}

/**
 * Fills `calls` inside the engine: traces that are trees, with three LLMs on the leaves and payloads of about
 * 500 bytes; then merges, like a store at rest.
 */
export async function fillCalls(
  engine: Engine,
  { project, calls, callsPerTrace, fanOut = 10 }: SampleCalls,
): Promise<void> {
  const statement = `
    INSERT INTO calls (project_id, hour, trace_id, id, parent_id, op_name, started_at, inputs, attributes, inclusive,
                       ended_at, output, summary, exception, usage)
    WITH intDiv(number, ${callsPerTrace}) AS trace, number % ${callsPerTrace} AS place,
      ['gpt-4o-2024-08-06', 'claude-sonnet-4-5', 'gpt-4o-mini'][number % 3 + 1] AS llm
    SELECT '${project}', intDiv(toUnixTimestamp64Micro(toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number / 1000), 3600000000), concat('trace-', leftPad(toString(trace), 8, '0')), concat('call-', leftPad(toString(number), 12, '0'), '-0123456789abcdef'),
      if(place = 0, '', concat('call-', leftPad(toString(trace * ${callsPerTrace} + intDiv(place - 1, ${fanOut})), 12, '0'), '-0123456789abcdef')),
      concat('op-', toString(number % 7)), toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number / 1000,
      concat('{"question":"', repeat(hex(sipHash64(number)), 15), '","n":', toString(number % 1000), ',"model":"', llm, '"}'),
      '{"env":"prod"}', 0, toDateTime64('2026-01-01 00:00:01', 6, 'UTC') + number / 1000,
      concat('{"answer":"', repeat(hex(sipHash64(number + 1)), 10), '"}'),
      concat('{"usage":{"', llm, '":{"requests":1,"prompt_tokens":1200,"completion_tokens":80}}}'), '',
      concat('[["', llm, '",1,', toString(1000 + number % 500), ',80,', toString(1080 + number % 500), ',200,0,0]]')
    FROM numbers(${calls})
    SETTINGS max_insert_threads = 1`;
  await engine.command(trusted(statement), { name: "bench_fill", limits: "maintenance" });
  await noteFilled(engine, project);
  await engine.command(sql`OPTIMIZE TABLE calls FINAL`, { name: "bench_merge", limits: "maintenance" });
}

/** Fills a trace that is a chain, whose calls each have used an LLM of their own. */
export async function fillChain(
  engine: Engine,
  { project, calls }: { readonly project: string; readonly calls: number },
): Promise<void> {
  const statement = `
    INSERT INTO calls (project_id, hour, trace_id, id, parent_id, op_name, started_at, inputs, attributes, inclusive,
                       ended_at, output, summary, exception, usage)
    WITH toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number / 1000 AS at
    SELECT '${project}', intDiv(toUnixTimestamp64Micro(at), 3600000000), 'trace', concat('call-', toString(number)),
      if(number = 0, '', concat('call-', toString(number - 1))), 'op', at, '{}', '{}', 0, at + 1, '{}', '{}', '',
      concat('[["llm-', toString(number), '",1,1000,80,1080,200,0,0]]')
    FROM numbers(${calls}) SETTINGS max_insert_threads = 1`;
  await engine.command(trusted(statement), { name: "bench_fill", limits: "maintenance" });
  await noteFilled(engine, project);
}
