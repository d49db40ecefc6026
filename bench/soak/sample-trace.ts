import type { SeededRandom } from "../../test/helpers/seeded-random.ts";
import type { Used } from "./expected.ts";

export interface SampleTrace {
  readonly project: string;
  readonly trace: string;
  readonly root: string;
  /** Usage by call, descendants included. */
  readonly used: ReadonlyMap<string, Used>;
  readonly pairs: readonly { readonly start: object; readonly end: object }[];
}

const CHILDREN = 4;
const LLMS = ["gpt-4o-2024-08-06", "claude-sonnet-4-5", "gpt-4o-mini"];

/** A tree of calls of about a kilobyte of JSON each; one in a hundred uses a model that nobody else does. */
export function sampleTrace(
  project: string,
  name: string,
  { calls, random }: { calls: number; random: SeededRandom },
): SampleTrace {
  const number = Math.floor(random.next() * 300);
  const llm = number < 297 ? LLMS[number % LLMS.length]! : `own-model-${name}`;
  const ids = Array.from({ length: calls }, (_, n) => `${name}-${n}`);
  const own = ids.map(() => ({
    requests: 1,
    prompt_tokens: Math.floor(random.next() * 2000),
    completion_tokens: Math.floor(random.next() * 200),
  }));
  const totals = own.map((tokens) => ({ llm, ...tokens }));
  for (let n = calls - 1; n > 0; n--) {
    const parent = totals[parentOf(n)]!;
    parent.requests += totals[n]!.requests;
    parent.prompt_tokens += totals[n]!.prompt_tokens;
    parent.completion_tokens += totals[n]!.completion_tokens;
  }
  const pairs = ids.map((id, n) => ({
    start: {
      project_id: project,
      id,
      trace_id: name,
      parent_id: n === 0 ? null : ids[parentOf(n)]!,
      op_name: `weave:///${project}/op/step-${n % 7}:v1`,
      started_at: new Date().toISOString(),
      attributes: { env: "prod" },
      inputs: { n: Math.floor(random.next() * 1000), question: `${id} `.padEnd(400, "Tell me more. ") },
    },
    end: {
      project_id: project,
      id,
      ended_at: new Date().toISOString(),
      output: { answer: "An answer of some length. ".repeat(8) },
      summary: { usage: { [llm]: own[n]! } },
    },
  }));
  return { project, trace: name, root: ids[0]!, used: new Map(ids.map((id, n) => [id, totals[n]!])), pairs };
}

function parentOf(n: number): number {
  return Math.floor((n - 1) / CHILDREN);
}
