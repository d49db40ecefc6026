import type { Operation, Operations } from "../operation.ts";

const relayed =
  "Relays the request to the upstream and its response byte for byte, and records it as a call of the given project, with what the " +
  "response says that it used. ";
const streamed = "With `stream`, the response is `text/event-stream`.";
const events: Operation["also"] = { response: { "text/event-stream": { schema: { type: "string" } } } };
const messages = [{ role: "user", content: "What does a trace cost?" }];
const text = "What its calls cost.";
const tokens = { input_tokens: 12, output_tokens: 5, total_tokens: 17 };

const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-5",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }],
    },
  ],
  usage: tokens,
};

/** The doors to models beside chat, as far as they take and answer JSON. */
export const modelDoorOperations: Operations = {
  "POST /v1/responses": {
    id: "createResponse",
    summary: "Create a response",
    description: `${relayed}OpenAI's Responses API. ${streamed}`,
    response: "The response, or the stream of its events",
    example: { request: { model: "gpt-5", input: "What does a trace cost?" }, response },
    also: events,
  },
  "POST /v1/responses/compact": {
    id: "compactResponse",
    summary: "Compact a response",
    description: `${relayed}OpenAI's Responses API.`,
    response: "What the conversation was compacted to",
    example: { request: { model: "gpt-5", input: messages }, response },
  },
  "POST /v1/messages": {
    id: "createMessage",
    summary: "Create a message",
    description: `${relayed}Anthropic's Messages API. ${streamed} Errors of the gateway have the form of that API.`,
    response: "The message, or the stream of its events",
    example: {
      request: { model: "claude-sonnet-4-5", max_tokens: 1024, messages },
      response: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [{ type: "text", text }],
        stop_reason: "end_turn",
        usage: { input_tokens: 12, output_tokens: 5 },
      },
    },
    also: events,
  },
  "POST /v1/completions": {
    id: "createCompletion",
    summary: "Complete a prompt",
    description: `${relayed}${streamed}`,
    response: "The completion, or the stream of its chunks",
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
    also: events,
  },
  "POST /v1/embeddings": {
    id: "createEmbeddings",
    summary: "Create embeddings",
    description: `${relayed}The vectors are not recorded.`,
    response: "The embeddings",
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
  "POST /v1/rerank": {
    id: "rerank",
    summary: "Rank documents",
    description: `${relayed}As Cohere and Jina have it: searches, or tokens.`,
    response: "The documents in the order of their relevance",
    example: {
      request: { model: "rerank-v3.5", query: "cost", documents: ["traces", "calls"] },
      response: {
        results: [{ index: 1, relevance_score: 0.75 }],
        meta: { billed_units: { search_units: 1 } },
      },
    },
  },
  "POST /v1/images/generations": {
    id: "createImages",
    summary: "Make images",
    description: `${relayed}${streamed} The images are not recorded.`,
    response: "The images, or the stream of their events",
    example: {
      request: { model: "gpt-image-1", prompt: "A forest of traces" },
      response: { created: 1_768_469_400, data: [{ b64_json: "aW1hZ2U=" }], usage: tokens },
    },
    also: events,
  },
};
