import type { Engine } from "../src/store/engine.ts";
import { trusted } from "../src/query/sql.ts";

const ROWS_PER_INSERT = 50_000;

export interface SampleFeedback {
  readonly project: string;
  readonly rows: number;
  readonly startMs: number;
  readonly days: number;
}

/** Feedback of a scorer, in order of arrival: `{"output":{"score":0.27,"passed":true,"reason":"…"}}`. */
export async function fillFeedback(
  engine: Engine,
  { project, rows, startMs, days }: SampleFeedback,
): Promise<void> {
  const step = Math.floor((days * 86_400_000) / rows);
  for (let from = 0; from < rows; from += ROWS_PER_INSERT) {
    const text = `INSERT INTO feedback
      (project_id, created_at, id, version, feedback_type, weave_ref, trigger_ref, payload, numbers, booleans, texts)
      WITH randCanonical(n) AS score, if(rand(n + 1) % 5 = 0, 0, 1) AS passed
      SELECT '${project}', fromUnixTimestamp64Milli(toInt64(${startMs} + n * ${step})), toString(generateUUIDv4(n)), n,
        'wandb.runnable.tone', concat('weave:///${project}/call/', toString(n)), 'weave:///${project}/object/mon:v1',
        concat('{"output":{"score":', toString(score), ',"passed":', if(passed = 1, 'true', 'false'), ',"latency_ms":',
          toString(rand(n + 2) % 10000), ',"reason":"', repeat('because ', 25), '"}}'),
        map('output.score', score, 'output.latency_ms', toFloat64(rand(n + 2) % 10000)), map('output.passed', passed), ['output.reason']
      FROM (SELECT number + ${from} AS n FROM numbers(${Math.min(ROWS_PER_INSERT, rows - from)}))`;
    await engine.command(trusted(text), { name: "bench_fill" });
  }
}
