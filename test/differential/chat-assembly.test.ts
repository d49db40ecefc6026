import OpenAI from "openai";
import { expect, it } from "vitest";
import { CHAT } from "../../src/gateway/apis/model-apis.ts";
import { Draft } from "../../src/gateway/apis/draft.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed, seededRandom } from "../helpers/seeded-random.ts";
import { drawAnswer, withContent } from "../models/chat-answers/answers.ts";
import { drawFrom } from "../models/chat-answers/draw.ts";
import type { Json } from "../models/chat-answers/step.ts";

const RUNS = runs(100, 5000);

it(`a stream is recorded as the official SDK assembles it: ${RUNS} random responses`, async () => {
  const seed = chosenSeed();
  for (let run = 0; run < RUNS; run++) {
    const { events } = drawAnswer(drawFrom(seededRandom(seed * 7919 + run)), { isOfficial: true });
    const chunks = events.map(({ chunk }) => JSON.stringify(chunk));
    const draft = new Draft(true);
    for (const chunk of chunks) CHAT.fold(draft, JSON.parse(chunk) as Json, false);
    CHAT.finish?.(draft);
    const { id, model, tier } = draft;
    const recorded = { id, model, ...(tier && { service_tier: tier }), ...draft.output };
    expect(JSON.parse(JSON.stringify(recorded)), `run ${run}: ${chunks.join("\n")}`).toEqual(
      await assembledBySdk(chunks),
    );
  }
});

async function assembledBySdk(chunks: readonly string[]): Promise<unknown> {
  const events = [...chunks, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
  const client = new OpenAI({
    apiKey: "none",
    fetch: () => Promise.resolve(new Response(events, { headers: { "content-type": "text/event-stream" } })),
  });
  const stream = client.chat.completions.stream({ model: "m", messages: [] });
  const { usage: _usage, ...completion } = await stream.finalChatCompletion();
  return withoutAdditions(JSON.parse(JSON.stringify(completion)));
}

/** Without what the SDK adds to an answer, or the record leaves out. */
function withoutAdditions(completion: unknown): unknown {
  const { choices, ...head } = completion as Json & { choices: (Json & { message: Json })[] };
  return {
    ...head,
    choices: choices.map(({ logprobs: _logprobs, token_ids: _ids, message, ...choice }) => {
      const { parsed: _parsed, refusal, ...said } = message;
      return { ...choice, message: withContent(refusal === null ? said : { ...said, refusal }) };
    }),
  };
}
