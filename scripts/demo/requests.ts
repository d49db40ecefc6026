import { AGENTS_PROJECT, TRAINING_PROJECT } from "./load-samples.ts";

export interface Demo {
  readonly url: string;
  readonly key: string;
  readonly project: string;
}

/** The page with the key behind `#`, which is sent to no server, and which the page removes from the address. */
export function pageAddress({ url, key, project }: Demo): string {
  return `${url}/#key=${key}&to=${encodeURIComponent(`/${project}/traces`)}`;
}

/** The output of the demo: each request can be pasted into a shell. */
export function requestsToPaste({ url, key, project }: Demo): string {
  const ask = (path: string, body: object): string =>
    `curl -s -u "api:$KEY" -H content-type:application/json ${url}${path} -d '${JSON.stringify(body)}' | pretty`;
  const through = (path: string, key: string, body: object, more = ""): string =>
    `curl -sN -H "${key}" -H "x-sumtree-project: ${project}" -H "x-sumtree-trace-id: my-trace" ${more}${url}/v1${path} -d '${JSON.stringify(body)}'`;
  const [bearer, apiKey] = ["authorization: Bearer $KEY", "x-api-key: $KEY"];
  const messages = [{ role: "user", content: "What did it cost?" }];
  const dayStart = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
  const ofAgents = { project_id: AGENTS_PROJECT, start: `${dayStart}T00:00:00Z`, group_by: ["svc_user_id"] };
  return `
Sumtree is running at ${url} with sample data in the project ${project}. Stop it with Ctrl-C; the samples go with it.

See it: ${pageAddress({ url, key, project })}

Or ask it. Each of these can be pasted into a shell:

KEY=${key}
pretty() { node -p 'JSON.stringify(JSON.parse(require("fs").readFileSync(0)), null, 2)'; }

# What did traces cost in all? One entry per root, everything below it included; here the oldest three.
${ask("/trace/usage", { project_id: project, filter: { trace_roots_only: true }, include_costs: true, limit: 3 })}

# Every call of one trace: a tool retry, cached tokens of two providers, three models.
${ask("/trace/usage", { project_id: project, filter: { trace_ids: ["support-1"] }, include_costs: true })}

# A tree whose SDK has already added children into parents: 3,500 tokens, not 9,300.
${ask("/trace/usage", { project_id: project, filter: { call_ids: ["report-1-summarize"] } })}

# A prompt on each side of a price tier, and a model without a price: null, not 0.
${ask("/trace/usage", { project_id: project, filter: { trace_ids: ["contract-1"] }, include_costs: true })}

# A run that is still going: its open calls are named.
${ask("/trace/usage", { project_id: project, filter: { trace_ids: ["research-1"] } })}

# Which runs failed, and what had they cost by then? The query language reads any field.
${ask("/trace/usage", {
  project_id: project,
  include_costs: true,
  filter: { trace_roots_only: true },
  query: { $expr: { $not: [{ $eq: [{ $getField: "exception" }, { $literal: null }] }] } },
})}

# What did each local day cost, by model? A call adds what is its own, so that sums of sums are right.
${ask("/usage/stats", {
  project_id: project,
  start: `${dayStart}T00:00:00Z`,
  timezone: "Europe/Berlin",
  granularity: 86_400,
  group_by: ["llm"],
  include_costs: true,
})}

# How good were the answers, by local day in Berlin?
${ask("/feedback/stats", {
  project_id: project,
  start: `${dayStart}T00:00:00Z`,
  timezone: "Europe/Berlin",
  granularity: 86_400,
  metrics: [{ json_path: "score", aggregations: ["avg", "count"], percentiles: [50, 95] }],
})}

# Through the gateway, as SDKs and coding agents would send it: a chat completion, a response, a message. A fake model responds,
# unless TRAINING_UPSTREAM_URL names a real one.
${through("/chat/completions", bearer, { model: "gpt-4o", stream: true, messages })}
${through("/responses", bearer, { model: "gpt-5", input: "What did it cost?" })}; echo
${through("/messages", apiKey, { model: "claude-sonnet-4-5", max_tokens: 100, stream: true, messages })}

# What they used and cost, streamed and not asked for their usage as they were. It is written once a stream is over, which it never delays.
sleep 1
${ask("/trace/usage", { project_id: project, filter: { trace_ids: ["my-trace"] }, include_costs: true })}

# What did coding agents cost, by developer? And what did they do, as they say themselves?
${ask("/usage/stats", { ...ofAgents, granularity: 7 * 86_400, include_costs: true })}
${ask("/agents/stats", ofAgents)}

# A model was trained on rated answers. Is a checkpoint better, and what does a good answer cost?
${ask("/usage/stats", {
  project_id: TRAINING_PROJECT,
  start: `${dayStart}T00:00:00Z`,
  granularity: 7 * 86_400,
  group_by: ["llm"],
  include_costs: true,
  outcome: { json_path: "score", op: "$gte", value: 0.8 },
})}

# What is left of the budget of the month, and a request that may cost more than is left of one for its trace.
${ask("/budget/query", { project_id: project })}
${through("/chat/completions", bearer, { model: "gpt-4o", messages }, '-H "x-sumtree-budget: usd=0.01" ')}; echo

# A deliberate mistake: the response lists every issue.
${ask("/trace/usage", { project_id: project, limit: 0, wat: true })}

The interface: ${url}/docs
`;
}
