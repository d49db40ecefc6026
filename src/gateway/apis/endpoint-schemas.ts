import { routeSchemas } from "../../http/openapi/route-text.ts";

const relayed =
  "Relays the request to the upstream and the response byte for byte. Records a call with the reported usage in the " +
  "given project. ";
const streamed = "With `stream`, the response is `text/event-stream`.";
const alsoSends = "text/event-stream";
const messages = [{ role: "user", content: "What does a trace cost?" }];
const text = "What its calls cost.";
const message = { id: "msg_1", type: "message", role: "assistant" };
const tokens = { input_tokens: 12, output_tokens: 5, total_tokens: 17 };

const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-5",
  output: [{ ...message, content: [{ type: "output_text", text, annotations: [] }] }],
  usage: tokens,
};

/** Schemas of the JSON model endpoints, by operation id. */
export const modelApiSchemas = routeSchemas({
  createChatCompletion: {
    summary: "Create a chat completion",
    description:
      "Relays the request to the chat upstream and the response byte for byte. Records the completion as a call of the given " +
      "project. With `stream`, the response is `text/event-stream`. The path may end in a slash.",
    success: "The completion, or the stream of its chunks",
    example: {
      request: { model: "gpt-4o", messages },
      response: {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1_768_469_400,
        model: "gpt-4o",
        choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
        usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
      },
    },
    alsoSends,
  },
  createResponse: {
    summary: "Create a response",
    description: `${relayed}OpenAI's Responses API. ${streamed}`,
    success: "The response, or the stream of its events",
    example: { request: { model: "gpt-5", input: "What does a trace cost?" }, response },
    alsoSends,
  },
  compactResponse: {
    summary: "Compact a response",
    description: `${relayed}OpenAI's Responses API.`,
    success: "The compacted conversation",
    example: { request: { model: "gpt-5", input: messages }, response },
  },
  createMessage: {
    summary: "Create a message",
    description: `${relayed}Anthropic's Messages API. ${streamed} Gateway errors use that API's format.`,
    success: "The message, or the stream of its events",
    example: {
      request: { model: "claude-sonnet-4-5", max_tokens: 1024, messages },
      response: {
        ...message,
        model: "claude-sonnet-4-5",
        content: [{ type: "text", text }],
        stop_reason: "end_turn",
        usage: { input_tokens: 12, output_tokens: 5 },
      },
    },
    alsoSends,
  },
  createCompletion: {
    summary: "Complete a prompt",
    description: `${relayed}${streamed}`,
    success: "The completion, or the stream of its chunks",
    example: {
      request: { model: "gpt-3.5-turbo-instruct", prompt: "A trace costs" },
      response: {
        id: "cmpl-1",
        object: "text_completion",
        model: "gpt-3.5-turbo-instruct",
        choices: [{ index: 0, text: " what its calls cost.", finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
      },
    },
    alsoSends,
  },
  createEmbeddings: {
    summary: "Create embeddings",
    description: `${relayed}The vectors are not recorded.`,
    success: "The embeddings",
    example: {
      request: { model: "text-embedding-3-small", input: ["What does a trace cost?"] },
      response: {
        object: "list",
        model: "text-embedding-3-small",
        data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }],
        usage: { prompt_tokens: 6, total_tokens: 6 },
      },
    },
  },
  rerank: {
    summary: "Rank documents",
    description: `${relayed}Usage is in searches (Cohere) or tokens (Jina).`,
    success: "The documents by descending relevance",
    example: {
      request: { model: "rerank-v3.5", query: "cost", documents: ["traces", "calls"] },
      response: {
        results: [{ index: 1, relevance_score: 0.75 }],
        meta: { billed_units: { search_units: 1 } },
      },
    },
  },
  createImages: {
    summary: "Generate images",
    description: `${relayed}${streamed} The images are not recorded.`,
    success: "The images, or the stream of image events",
    example: {
      request: { model: "gpt-image-1", prompt: "A forest of traces" },
      response: { created: 1_768_469_400, data: [{ b64_json: "aW1hZ2U=" }], usage: tokens },
    },
    alsoSends,
  },
});
