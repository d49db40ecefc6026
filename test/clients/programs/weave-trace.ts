/**
 * Program of a user of the Weave SDK, with a model that returns fixed token counts. Prints its call ids as the last line.
 * Environment: WANDB_API_KEY, WF_TRACE_SERVER_URL, PROJECT.
 */
import * as weave from "weave";
import { tell } from "./tell.ts";

interface Completion {
  readonly model: string;
  readonly text: string;
  readonly usage: Readonly<Record<string, number>>;
}

const client = await weave.init(process.env["PROJECT"]!);

const summarize = (completion: Completion) => ({ usage: { [completion.model]: completion.usage } });

const askGpt = weave.op(
  async function askGpt(question: string, prompt_tokens: number): Promise<Completion> {
    const usage = { prompt_tokens, completion_tokens: 5, total_tokens: prompt_tokens + 5 };
    return { model: "gpt-4o-2024-08-06", text: `about ${question}`, usage };
  },
  { summarize },
);
const askClaude = weave.op(
  async function askClaude(question: string): Promise<Completion> {
    const usage = { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 100 };
    return { model: "claude-sonnet-4-5", text: `about ${question}`, usage };
  },
  { summarize },
);
const search = weave.op(
  async function search(query: string): Promise<string> {
    const [first, second] = await Promise.all([askGpt(query, 20), askClaude(query)]);
    return first.text + second.text;
  },
  { callDisplayName: (query: string) => `search for ${query}` },
);
const remember = weave.op(async function remember(): Promise<void> {});
const broken = weave.op(async function broken(): Promise<string> {
  await askGpt("before it breaks", 1000);
  throw new Error("the tool is broken");
});
const agent = weave.op(async function agent(task: string): Promise<string> {
  const plan = await askGpt(task, 10);
  const found = await search(plan.text);
  await remember();
  await broken().catch(() => undefined);
  return found;
});

const [answer, call] = await weave.withAttributes({ run: "nightly" }, () => agent.invoke("a trip to Zürich"));
await client.waitForBatchProcessing();
await call.setDisplayName("The whole trip");

const calls = await client.getCalls({}, true);
const again = await client.getCall(call.id);
tell({ answer, id: call.id, calls, displayName: again.display_name });
