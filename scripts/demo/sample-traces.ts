/** A whole call as `/v2/{entity}/{project}/calls/complete` takes it; without `ended_at` it still runs. */
export interface SampleCall {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_id: string | null;
  readonly op_name: string;
  readonly display_name?: string;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly thread_id?: string;
  readonly wb_user_id?: string;
  readonly attributes: object;
  readonly inputs: object;
  readonly output?: unknown;
  readonly exception?: string;
  readonly summary?: object;
}

type Draft = Omit<
  SampleCall,
  "id" | "trace_id" | "parent_id" | "started_at" | "ended_at" | "attributes" | "inputs"
> & {
  readonly parent?: string;
  /** Seconds after the trace began. */
  readonly at: number;
  /** Seconds; left out for a call that still runs. */
  readonly takes?: number;
  readonly attributes?: object;
  readonly inputs?: object;
};

/** Names every call of a trace `<trace>-<name>` and puts it on the clock. */
function trace(id: string, beganAtMs: number, calls: Readonly<Record<string, Draft>>): SampleCall[] {
  const iso = (seconds: number): string => new Date(beganAtMs + seconds * 1000).toISOString();
  return Object.entries(calls).map(([name, { parent, at, takes, ...call }]) => ({
    attributes: {},
    inputs: {},
    ...call,
    id: `${id}-${name}`,
    trace_id: id,
    parent_id: parent === undefined ? null : `${id}-${parent}`,
    started_at: iso(at),
    ...(takes === undefined ? {} : { ended_at: iso(at + takes) }),
  }));
}

const used = (llm: string, counts: object): object => ({ usage: { [llm]: { requests: 1, ...counts } } });

/** An agent answers a customer: a tool that fails once, OpenAI with cached tokens, Anthropic with a cache of its own. */
export function supportRun(id: string, beganAtMs: number, question: string): SampleCall[] {
  return trace(id, beganAtMs, {
    agent: {
      op_name: "support_agent.run",
      display_name: "Support agent",
      at: 0,
      takes: 9.4,
      thread_id: `thread-${id}`,
      wb_user_id: "ana",
      inputs: { question },
      output: { answer: "Your parcel arrives on Tuesday." },
    },
    plan: {
      parent: "agent",
      op_name: "openai.chat.completions.create",
      at: 0.1,
      takes: 1.2,
      inputs: { model: "gpt-4o", messages: [{ role: "user", content: question }] },
      output: { tool: "track_parcel" },
      summary: used("gpt-4o-2024-08-06", {
        prompt_tokens: 2400,
        completion_tokens: 60,
        total_tokens: 2460,
        prompt_tokens_details: { cached_tokens: 1920 },
      }),
    },
    track: {
      parent: "agent",
      op_name: "track_parcel",
      at: 1.4,
      takes: 5,
      inputs: { parcel: "A-1017" },
      exception: "TimeoutError: the carrier did not answer",
    },
    retry: {
      parent: "agent",
      op_name: "track_parcel",
      at: 6.5,
      takes: 0.3,
      inputs: { parcel: "A-1017", attempt: 2 },
      output: { arrives: "Tuesday" },
    },
    answer: {
      parent: "agent",
      op_name: "anthropic.messages.create",
      at: 6.9,
      takes: 2.3,
      inputs: { model: "claude-sonnet-4-5" },
      output: "Your parcel arrives on Tuesday.",
      summary: used("claude-sonnet-4-5-20250929", {
        input_tokens: 310,
        output_tokens: 120,
        cache_read_input_tokens: 5200,
        cache_creation_input_tokens: 840,
      }),
    },
    check: {
      parent: "answer",
      op_name: "guardrail",
      at: 9.2,
      takes: 0.1,
      output: { allowed: true },
      summary: used("gpt-4o-mini", { prompt_tokens: 240, completion_tokens: 4, total_tokens: 244 }),
    },
  });
}

/** A tree of the Weave SDK, which has already added the children's usage to their parents. */
export function sdkRun(id: string, beganAtMs: number): SampleCall[] {
  const attributes = { weave: { client_version: "0.11.1", source: "js-sdk" } };
  const usage = (prompt: number, completion: number, requests: number): object => ({
    usage: {
      "gpt-4o": {
        requests,
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
      },
    },
  });
  return trace(id, beganAtMs, {
    summarize: {
      op_name: "summarize_report",
      at: 0,
      takes: 4,
      attributes,
      summary: usage(3000, 500, 2),
      output: "…",
    },
    section: {
      parent: "summarize",
      op_name: "summarize_section",
      at: 0.5,
      takes: 3,
      attributes,
      summary: usage(2000, 300, 1),
    },
    model: {
      parent: "section",
      op_name: "openai.chat",
      at: 0.6,
      takes: 2.5,
      attributes,
      summary: usage(2000, 300, 1),
    },
    title: {
      parent: "summarize",
      op_name: "openai.chat",
      at: 3.5,
      takes: 0.5,
      attributes,
      summary: usage(1000, 200, 1),
    },
  });
}

/** One prompt below and one above a price tier, and a model without a price. */
export function longContextRun(id: string, beganAtMs: number): SampleCall[] {
  return trace(id, beganAtMs, {
    review: { op_name: "contract_review", at: 0, takes: 60, output: { findings: 3 } },
    short: {
      parent: "review",
      op_name: "google.generate_content",
      at: 1,
      takes: 20,
      summary: used("gemini-2.5-pro", {
        prompt_tokens: 150_000,
        completion_tokens: 1000,
        total_tokens: 151_000,
      }),
    },
    long: {
      parent: "review",
      op_name: "google.generate_content",
      at: 22,
      takes: 30,
      summary: used("gemini-2.5-pro", {
        prompt_tokens: 250_000,
        completion_tokens: 1000,
        total_tokens: 251_000,
      }),
    },
    classify: {
      parent: "review",
      op_name: "house_model.predict",
      at: 55,
      takes: 1,
      summary: used("acme-contracts-7b", { prompt_tokens: 4000, completion_tokens: 12, total_tokens: 4012 }),
    },
  });
}

/** An agent that failed, after two completions that cost something. */
export function failedRun(id: string, beganAtMs: number): SampleCall[] {
  return trace(id, beganAtMs, {
    agent: {
      op_name: "refund_agent.run",
      at: 0,
      takes: 8,
      inputs: { order: "B-2044" },
      exception: "ToolLoopError: the same tool was called again and again",
    },
    plan: {
      parent: "agent",
      op_name: "openai.chat.completions.create",
      at: 0.2,
      takes: 3,
      inputs: { model: "gpt-4o" },
      summary: used("gpt-4o", { prompt_tokens: 21_000, completion_tokens: 400, total_tokens: 21_400 }),
    },
    again: {
      parent: "agent",
      op_name: "openai.chat.completions.create",
      at: 4,
      takes: 3.5,
      inputs: { model: "gpt-4o" },
      summary: used("gpt-4o", { prompt_tokens: 22_500, completion_tokens: 380, total_tokens: 22_880 }),
    },
  });
}

/** An agent that is still at work. */
export function runningAgent(id: string, beganAtMs: number): SampleCall[] {
  return trace(id, beganAtMs, {
    agent: { op_name: "research_agent.run", at: 0, inputs: { topic: "battery prices" } },
    search: { parent: "agent", op_name: "web_search", at: 0.2, takes: 1, output: { hits: 12 } },
    read: {
      parent: "agent",
      op_name: "openai.chat.completions.create",
      at: 1.4,
      takes: 3,
      inputs: { model: "gpt-4o-mini" },
      summary: used("gpt-4o-mini", { prompt_tokens: 18_000, completion_tokens: 400, total_tokens: 18_400 }),
    },
    write: {
      parent: "agent",
      op_name: "openai.chat.completions.create",
      at: 4.5,
      inputs: { model: "gpt-4o" },
    },
  });
}
