import type { Example } from "../chat/read-example.ts";
import type { Json } from "../chat/turn.ts";
import type { Candidate } from "../select/read-candidates.ts";
import type { Outcome } from "./manifest-writer.ts";

/** Writes the line of an example; returns why there is none. */
type Write = (example: Example, candidate: Candidate) => Outcome["result"];

/** Writes a line for each example. */
export async function* exampleLines(
  candidates: AsyncIterable<Candidate>,
  write: Write,
): AsyncGenerator<Outcome> {
  for await (const candidate of candidates) {
    const { outcome } = candidate;
    yield { calls: [candidate], result: typeof outcome === "string" ? outcome : write(outcome, candidate) };
  }
}

export const chatLine = ({ messages, answer, tools }: Example) => ({
  line: JSON.stringify({ messages: [...messages, answer], ...(tools !== undefined && { tools }) }),
});

/** A trajectory of OpenPipe ART, with its rating as reward: its last item is a `Choice` of OpenAI's chat. */
export const trajectoryLine: Write = (example, { key, rating }) => {
  const reward = rating?.value ?? null;
  if (reward === null) return "no_reward";
  const { messages, answer, tools, finishReason, logprobs } = example;
  const { role, content, refusal = null, ...rest } = answer;
  const message: Json = { role, content, refusal, ...rest };
  const choice = { finish_reason: finishReason, index: 0, logprobs, message };
  const line = JSON.stringify({
    messages_and_choices: [...messages, choice],
    ...(tools !== undefined && { tools }),
    reward,
    metrics: {},
    metadata: { trace_id: key.traceId, call_id: key.id },
  });
  return { line };
};
