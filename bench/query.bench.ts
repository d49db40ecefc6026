import { deepStrictEqual } from "node:assert";
import type { Engine } from "../src/store/engine.ts";
import { compileQuery } from "../src/query/compile.ts";
import { selectCalls } from "../src/query/select-calls.ts";
import type { CallsFilter } from "../src/query/read/wire-schema.ts";
import { param, sql, trusted, type Sql } from "../src/query/sql.ts";
import type { Project } from "../src/shared/project.ts";
import { noteFilled } from "./note-filled.ts";
import { ratioAtMost, timeInTurn, type Scenario, type ScenarioResult } from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";

const PROJECT = "bench/questions" as Project;
const CALLS = 1_000_000;
const LIMIT = 10_000;

/** Chat calls and tools in traces of a hundred, payloads of 900 bytes, and a score for every tenth call. */
async function fill(engine: Engine): Promise<void> {
  const words = `['alpha','beta','gamma','delta','epsilon','zeta','eta','theta','iota','kappa']`;
  const prose = (count: number, salt: number): string =>
    `arrayStringConcat(arrayMap(i -> ${words}[1 + cityHash64(number, i, ${salt}) % 10], range(${count})), ' ')`;
  const statement = `
    INSERT INTO calls (project_id, hour, trace_id, id, parent_id, op_name, started_at, start_display_name, thread_id, turn_id,
      svc_user_id, svc_run_id, inputs, attributes, ended_at, output, summary, exception)
    WITH concat('call-', lower(hex(sipHash64(number)))) AS id,
      toDateTime64('2026-03-01 00:00:00', 6, 'UTC') + toIntervalMillisecond(number * 100) AS began
    SELECT '${PROJECT}', intDiv(toUnixTimestamp64Micro(began), 3600000000), concat('trace-', leftPad(toString(intDiv(number, 100)), 8, '0')), id,
      if(number % 100 = 0, '', concat('call-', lower(hex(sipHash64(intDiv(number, 100) * 100))))),
      ['agent.run:v1', 'llm.chat:v1', 'tool.search:v1', 'weave:///bench/questions/op/predict:v3'][1 + number % 4],
      began, '', concat('thread-', toString(intDiv(number, 1000))), '', concat('user-', toString(number % 50)), '',
      concat('{"model":"', ['gpt-4o-mini','gpt-4.1','claude-sonnet','llama-70b'][1 + cityHash64(number) % 4],
        '","temperature":', toString(round((cityHash64(number, 1) % 200) / 100, 2)),
        ',"messages":[{"role":"system","content":"You answer with great care."},{"role":"user","content":"', ${prose(40, 7)},
        if(number % 5000 = 17, ' refund overdue', ''), '"}],"session":{"customer":"c-', toString(cityHash64(number, 2) % 10000),
        '","flags":{"beta":', if(number % 3 = 0, 'true', 'false'), '}}}'),
      concat('{"env":"', if(number % 10 = 0, 'prod', 'dev'), '"}'),
      if(number % 97 = 0, NULL, began + toIntervalMillisecond(50 + number % 2000)),
      if(number % 97 = 0, NULL, concat('{"choices":[{"message":{"role":"assistant","content":"', ${prose(30, 9)},
        '"}}],"score":', toString(round((cityHash64(number, 3) % 1000) / 1000, 3)), '}')),
      if(number % 97 = 0, NULL, concat('{"usage":{"gpt-4o-mini":{"requests":1,"total_tokens":', toString(cityHash64(number, 6) % 3800),
        '}},"status_counts":{"success":1,"error":', toString(number % 200 = 0), '}}')),
      if(number % 97 = 0, NULL, if(number % 333 = 0, 'ValueError: boom', ''))
    FROM numbers(${CALLS})`;
  await engine.command(trusted(statement), { name: "bench_fill", limits: "maintenance" });
  const feedback = `
    INSERT INTO feedback (project_id, created_at, id, version, feedback_type, weave_ref, payload)
    SELECT '${PROJECT}', fromUnixTimestamp64Milli(toInt64(1772323200000 + number * 1000)), toString(number), 1, 'score',
      concat('weave:///${PROJECT}/call/call-', lower(hex(sipHash64(number * 10)))),
      concat('{"output":{"value":', toString(round((cityHash64(number, 4) % 1000) / 1000, 3)), '}}')
    FROM numbers(${CALLS / 10})`;
  await engine.command(trusted(feedback), { name: "bench_fill", limits: "maintenance" });
  await noteFilled(engine, PROJECT);
  for (const table of [sql`calls`, sql`feedback`]) {
    await engine.command(sql`OPTIMIZE TABLE ${table} FINAL`, { name: "bench_merge", limits: "maintenance" });
  }
}

interface Question {
  readonly what: string;
  readonly filter?: CallsFilter;
  readonly query?: object;
  /** The statement that an expert on the table and its data would write for this question. */
  readonly byHand: string;
}

const field = ($getField: string): object => ({ $getField });
const literal = ($literal: unknown): object => ({ $literal });

const questions: readonly Question[] = [
  {
    what: "inputs.model = 'gpt-4.1' (a quarter)",
    query: { $eq: [field("inputs.model"), literal("gpt-4.1")] },
    byHand: "JSONExtractString(inputs, 'model') = 'gpt-4.1'",
  },
  {
    what: "inputs.temperature > 1.5 (a quarter)",
    query: { $gt: [field("inputs.temperature"), literal(1.5)] },
    byHand: "JSONExtractFloat(inputs, 'temperature') > 1.5",
  },
  {
    what: "inputs.session.customer = 'c-77' (0.01 %)",
    query: { $eq: [field("inputs.session.customer"), literal("c-77")] },
    byHand: "JSONExtractString(inputs, 'session', 'customer') = 'c-77'",
  },
  {
    what: "inputs.messages.1.content contains 'refund overdue' (0.02 %)",
    query: { $contains: { input: field("inputs.messages.1.content"), substr: literal("refund overdue") } },
    byHand: "position(JSONExtractString(inputs, 'messages', 2, 'content'), 'refund overdue') > 0",
  },
  {
    what: "the same, without regard to case",
    query: {
      $contains: {
        input: field("inputs.messages.1.content"),
        substr: literal("Refund OVERDUE"),
        case_insensitive: true,
      },
    },
    byHand:
      "positionCaseInsensitiveUTF8(JSONExtractString(inputs, 'messages', 2, 'content'), 'Refund OVERDUE') > 0",
  },
  {
    what: "op_names predict:* and output.score < 0.1",
    filter: { op_names: ["weave:///bench/questions/op/predict:*"] },
    query: { $lt: [field("output.score"), literal(0.1)] },
    byHand:
      "startsWith(assumeNotNull(op_name), 'weave:///bench/questions/op/predict:') AND output IS NOT NULL AND JSONExtractFloat(output, 'score') < 0.1",
  },
  {
    what: "thread_id = 'thread-7' and inputs.temperature >= 1",
    query: {
      $and: [
        { $gte: [field("inputs.temperature"), literal(1)] },
        { $eq: [field("thread_id"), literal("thread-7")] },
      ],
    },
    byHand: "thread_id = 'thread-7' AND JSONExtractFloat(inputs, 'temperature') >= 1",
  },
  {
    what: "summary.usage.gpt-4o-mini.total_tokens > 3500",
    query: { $gt: [field("summary.usage.gpt-4o-mini.total_tokens"), literal(3500)] },
    byHand: "JSONExtractInt(summary, 'usage', 'gpt-4o-mini', 'total_tokens') > 3500",
  },
  {
    what: "summary.weave.status in error, descendant_error",
    query: { $in: [field("summary.weave.status"), [literal("error"), literal("descendant_error")]] },
    byHand: "(exception != '' OR JSONExtractInt(summary, 'status_counts', 'error') > 0)",
  },
  {
    what: "slower than 1.5 s within ten minutes",
    query: {
      $and: [
        { $gt: [field("summary.weave.latency_ms"), literal(1500)] },
        { $gte: [field("started_at"), literal("2026-03-01T00:10:00Z")] },
        { $lt: [field("started_at"), literal("2026-03-01T00:20:00Z")] },
      ],
    },
    byHand:
      "dateDiff('millisecond', started_at, ended_at) > 1500 AND started_at >= '2026-03-01 00:10:00' AND started_at < '2026-03-01 00:20:00'",
  },
  {
    what: "feedback.[score].payload.output.value > 0.99",
    query: { $gt: [field("feedback.[score].payload.output.value"), literal(0.99)] },
    byHand: `id IN (SELECT substring(weave_ref, ${`weave:///${PROJECT}/call/`.length + 1}) FROM feedback FINAL
      WHERE project_id = '${PROJECT}' AND deleted = 0 AND feedback_type = 'score' AND JSONExtractFloat(payload, 'output', 'value') > 0.99)`,
  },
];

function ours({ filter, query }: Question): Sql {
  const compiled = query && compileQuery({ $expr: query }, { project: PROJECT });
  return selectCalls({ project: PROJECT, columns: sql`trace_id, id`, filter, query: compiled, limit: LIMIT });
}

function byHand(question: Question): Sql {
  return sql`SELECT trace_id, id FROM calls FINAL
    WHERE project_id = ${param("String", PROJECT)} AND deleted_at IS NULL AND started_at IS NOT NULL AND ${trusted(question.byHand)}
    ORDER BY started_at, id LIMIT ${trusted(String(LIMIT))}`;
}

async function ask(service: BenchService, question: Question): Promise<ScenarioResult> {
  const options = { name: "bench_question", limits: "heavy" } as const;
  const answer = await service.engine.bytes(ours(question), "RowBinary", options);
  const byHandAnswer = await service.engine.bytes(byHand(question), "RowBinary", options);
  deepStrictEqual(answer, byHandAnswer, `${question.what}: two questions`);
  if (answer.length === 0) throw new Error(`${question.what}: no answer`);
  const times = await timeInTurn(9, {
    ours: () => service.read(ours(question), "RowBinary", options),
    byHand: () => service.read(byHand(question), "RowBinary", options),
  });
  const against = { what: "SQL by hand", spread: times["byHand"]! };
  return ratioAtMost(1.2, { what: `${question.what}, 1,000,000 calls`, subject: times["ours"]!, against });
}

/** The whole request: find the calls, roll up their traces, send the answer. */
async function wholeRequest(service: BenchService): Promise<ScenarioResult> {
  const question = questions.find(({ what }) => what.includes("'c-77'"))!;
  const times = await timeInTurn(9, {
    request: () => service.ask("/trace/usage", { project_id: PROJECT, query: { $expr: question.query } }),
    byHand: () => service.read(byHand(question), "RowBinary", { name: "bench_question", limits: "heavy" }),
  });
  const what = `POST /trace/usage with ${question.what}, 1,000,000 calls`;
  const against = { what: "SQL by hand for the calls alone", spread: times["byHand"]! };
  return ratioAtMost(1.2, { what, subject: times["request"]!, against });
}

export const scenario: Scenario = {
  name: "query",
  async run() {
    const service = await startService();
    try {
      await fill(service.engine);
      const results: ScenarioResult[] = [];
      for (const question of questions) results.push(await ask(service, question));
      results.push(await wholeRequest(service));
      return results;
    } finally {
      await service.close();
    }
  },
};
