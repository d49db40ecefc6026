import { randomUUID } from "node:crypto";

export interface SampleCall {
  readonly start: object;
  readonly end: object;
}

const PROJECT_ID = "bench/ingest";
const CALLS_PER_TRACE = 20;

/** Calls as a Python SDK sends them: one kilobyte of JSON each, start and end together, 20 to a trace. */
export function* sampleCalls(): Generator<SampleCall, never> {
  for (;;) {
    const traceId = randomUUID();
    let root: string | null = null;
    for (let n = 0; n < CALLS_PER_TRACE; n++) {
      const id = randomUUID();
      yield sampleCall({ id, traceId, parentId: root });
      root ??= id;
    }
  }
}

function sampleCall(ids: { id: string; traceId: string; parentId: string | null }): SampleCall {
  return {
    start: {
      project_id: PROJECT_ID,
      id: ids.id,
      trace_id: ids.traceId,
      parent_id: ids.parentId,
      op_name: "weave:///bench/ingest/op/answer:9rQmYqOXnAIRFGVXn2RZq3ZoOaV4yYzJvqBYpTPuBsw",
      started_at: "2026-01-01T00:00:00.123456Z",
      attributes: { weave: { source: "python-sdk", client_version: "0.52.10" } },
      inputs: { question: `What about ${ids.id}? `.padEnd(300, "Tell me more. "), model: "gpt-4o" },
      wb_user_id: null,
    },
    end: {
      project_id: PROJECT_ID,
      id: ids.id,
      ended_at: "2026-01-01T00:00:01.654321Z",
      output: { answer: "An answer of some length. ".repeat(6) },
      summary: {
        usage: { "gpt-4o-2024-08-06": { requests: 1, prompt_tokens: 1200, completion_tokens: 80 } },
      },
      exception: null,
    },
  };
}
