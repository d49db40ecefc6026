import { chatLine, type Example } from "../chat/read-example.ts";
import type { Json } from "../chat/turn.ts";
import type { Candidate } from "../select/read-candidates.ts";
import type { Verdict } from "../reasons.ts";
import type { Outcome } from "./manifest-writer.ts";

/** Writes a line for each example. */
export async function* chatLines(candidates: AsyncIterable<Candidate>): AsyncGenerator<Outcome> {
  for await (const candidate of candidates)
    yield outcomeOf(candidate, (example) => ({ line: chatLine(example) }));
}

/** Writes a trajectory with its reward for each example. */
export async function* trajectoryLines(candidates: AsyncIterable<Candidate>): AsyncGenerator<Outcome> {
  for await (const candidate of candidates)
    yield outcomeOf(candidate, (example) => {
      const reward = candidate.rating?.value ?? null;
      return reward === null ? "no_reward" : { line: trajectory(example, candidate, reward) };
    });
}

function outcomeOf(
  candidate: Candidate,
  write: (example: Example) => { readonly line: string } | Verdict,
): Outcome {
  const { outcome } = candidate;
  return { calls: [candidate], result: typeof outcome === "string" ? outcome : write(outcome) };
}

/** A trajectory of OpenPipe ART: its last item is a `Choice` of OpenAI's chat. */
function trajectory(example: Example, { key }: Candidate, reward: number): string {
  const { messages, answer, tools, finishReason, logprobs } = example;
  const { role, content, refusal = null, ...rest } = answer;
  const message: Json = { role, content, refusal, ...rest };
  const choice = { finish_reason: finishReason, index: 0, logprobs, message };
  return JSON.stringify({
    messages_and_choices: [...messages, choice],
    ...(tools !== undefined && { tools }),
    reward,
    metrics: {},
    metadata: { trace_id: key.traceId, call_id: key.id },
  });
}
