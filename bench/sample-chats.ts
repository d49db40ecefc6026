import type { Engine } from "../src/store/engine.ts";
import { trusted } from "../src/query/sql.ts";
import { rebuildRollup } from "../src/usage-rollup/verify-rollup.ts";
import { noteFilled } from "./note-filled.ts";

const CALLS_PER_INSERT = 200_000;
const CALLS_PER_HOUR = 27_777;
const START_US = Date.UTC(2026, 0, 1) * 1000;

/**
 * Fills a project with chats of about 700 bytes, each a trace of its own with a rating. The second half asks the prompts of the
 * first again, has other answers, and passes where the first has failed: pairs are as far apart as they can be.
 */
export async function fillChats(
  engine: Engine,
  { project, calls }: { readonly project: string; readonly calls: number },
): Promise<void> {
  const run = (statement: string): Promise<void> =>
    engine.command(trusted(statement), { name: "bench_fill", limits: "maintenance" });
  for (let from = 0; from < calls; from += CALLS_PER_INSERT) {
    const numbers = `numbers(${from}, ${Math.min(CALLS_PER_INSERT, calls - from)})`;
    await run(callsOf(project, numbers, calls / 2));
    await run(ratingsOf(project, numbers, calls / 2));
  }
  await noteFilled(engine, project);
  for (const table of ["calls", "feedback", "call_keys"]) await run(`OPTIMIZE TABLE ${table} FINAL`);
  // otherwise the service would do it during the measurement
  await rebuildRollup({ engine, runExclusive: (work) => work(), signal: new AbortController().signal });
}

/** A UUID of the call with this `number`. */
const ID = `toString(reinterpretAsUUID(sipHash128(number)))`;

function callsOf(project: string, numbers: string, prompts: number): string {
  const atUs = `toInt64(${START_US} + intDiv(number * 3600000000, ${CALLS_PER_HOUR}))`;
  return `
    INSERT INTO calls (project_id, hour, trace_id, id, parent_id, op_name, started_at, inputs, attributes, inclusive,
                       ended_at, output, summary, exception, usage)
    WITH fromUnixTimestamp64Micro(${atUs}, 'UTC') AS began, number % ${prompts} AS prompt
    SELECT '${project}', intDiv(${atUs}, 3600000000), reverse(${ID}), ${ID}, '', 'openai.chat.completions.create', began,
      concat('{"model":"gpt-4o-mini","temperature":0.2,"messages":[{"role":"system","content":"You help customers of a parcel service, in short sentences."},',
        '{"role":"user","content":"Where is parcel ', toString(prompt), '? ', repeat(hex(sipHash64(prompt)), 10), '"}]}'),
      '{}', 0, addMilliseconds(began, 900),
      concat('{"id":"chatcmpl-', toString(number), '","model":"gpt-4o-mini","choices":[{"index":0,"finish_reason":"stop",',
        '"message":{"role":"assistant","content":"Parcel ', toString(prompt), ' ', repeat(hex(sipHash64(number)), 8), '"}}]}'),
      '{"usage":{"gpt-4o-mini":{"requests":1,"prompt_tokens":120,"completion_tokens":80}}}', '', '[["gpt-4o-mini",1,120,80,200,0,0,0]]'
    FROM ${numbers} SETTINGS max_insert_threads = 1`;
}

function ratingsOf(project: string, numbers: string, prompts: number): string {
  return `
    INSERT INTO feedback (project_id, created_at, id, version, feedback_type, weave_ref, payload, numbers)
    WITH toFloat64((number + intDiv(number, ${prompts})) % 2) AS score
    SELECT '${project}', fromUnixTimestamp64Micro(toInt64(${START_US} + number * 1000)), toString(number), 1, 'grade',
      concat('weave:///${project}/call/', ${ID}), concat('{"score":', toString(score), ',"reason":"', repeat('because ', 10), '"}'),
      map('score', score)
    FROM ${numbers} SETTINGS max_insert_threads = 1`;
}
