import type { Call, Conversation, Said, Turn } from "./conversation.ts";

type Json = Record<string, unknown>;

/** A call as a client sends it, in one format. */
export interface Recorded {
  readonly inputs: Json;
  readonly output: unknown;
}

const listIf = <Item>(isThere: boolean, item: Item): Item[] => (isThere ? [item] : []);
const toolsIf = (tools: readonly unknown[], written: unknown): Json =>
  tools.length > 0 ? { tools: written } : {};

function chatCalls(calls: readonly Call[]): Json {
  if (calls.length === 0) return {};
  return {
    tool_calls: calls.map(({ id, name, args }) => ({
      id,
      type: "function",
      function: { arguments: JSON.stringify(args), name },
    })),
  };
}

export function chatMessages({ system, turns }: Conversation): Json[] {
  return [
    ...listIf(system !== undefined, { content: system, role: "system" }),
    ...turns.flatMap((turn): Json[] => {
      if (turn.by === "assistant")
        return [{ role: "assistant", ...chatCalls(turn.calls), refusal: null, content: turn.text ?? null }];
      if (turn.by === "tools")
        return turn.results.map(({ call, value }) => ({
          tool_call_id: call.id,
          role: "tool",
          content: JSON.stringify(value),
        }));
      const parts = [
        ...turn.texts.map((text) => ({ text, type: "text" })),
        ...listIf(turn.image !== undefined, { image_url: { url: turn.image }, type: "image_url" }),
      ];
      const isPlain = parts.length === 1;
      return [{ role: "user", content: isPlain ? turn.texts[0] : parts }];
    }),
  ];
}

export function openaiChat(conversation: Conversation): Recorded {
  const { answer, tools } = conversation;
  const written = tools.map((tool) => ({ function: { ...tool }, type: "function" }));
  return {
    inputs: {
      model: "gpt-4o",
      messages: chatMessages(conversation),
      ...toolsIf(tools, written),
      temperature: 0,
    },
    output: {
      id: "chatcmpl-1",
      object: "chat.completion",
      model: "gpt-4o-2024-08-06",
      choices: [
        {
          index: 0,
          message: {
            content: answer.text ?? null,
            role: "assistant",
            ...chatCalls(answer.calls),
            refusal: null,
            annotations: [],
          },
          finish_reason: answer.calls.length > 0 ? "tool_calls" : "stop",
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    },
  };
}

const thinking = { type: "thinking", thinking: "hm", signature: "s" };

function anthropicBlocks({ text, calls }: Said): Json[] {
  return [
    thinking,
    ...listIf(text !== undefined, { type: "text", text }),
    ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
  ];
}

export function anthropic({ system, turns, answer, tools }: Conversation): Recorded {
  const messages = turns.map((turn): Json => {
    if (turn.by === "assistant") return { role: "assistant", content: anthropicBlocks(turn) };
    if (turn.by === "tools")
      return {
        role: "user",
        content: turn.results.map(({ call, value }) => ({
          type: "tool_result",
          tool_use_id: call.id,
          content: [{ type: "text", text: JSON.stringify(value) }],
        })),
      };
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: turn.image?.split(",")[1] },
    };
    const parts = [
      ...turn.texts.map((text) => ({ type: "text", text })),
      ...listIf(turn.image !== undefined, image),
    ];
    return { role: "user", content: parts.length === 1 ? turn.texts[0] : parts };
  });
  const written = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  return {
    inputs: {
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      ...(system !== undefined && {
        system: [{ type: "text", text: system, cache_control: { type: "ephemeral" } }],
      }),
      messages,
      ...toolsIf(tools, written),
    },
    output: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: anthropicBlocks(answer),
      stop_reason: answer.calls.length > 0 ? "tool_use" : "end_turn",
      usage: { input_tokens: 10, output_tokens: 3 },
    },
  };
}

function responseItems({ text, calls }: Said, place: number): Json[] {
  return [
    { type: "reasoning", id: `rs_${place}`, summary: [{ type: "summary_text", text: "hm" }] },
    ...listIf(text !== undefined, {
      type: "message",
      id: `msg_${place}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    }),
    ...calls.map(({ id, name, args }) => ({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    })),
  ];
}

export function responses({ system, turns, answer, tools }: Conversation): Recorded {
  const input = turns.flatMap((turn, place): Json[] => {
    if (turn.by === "assistant") return responseItems(turn, place);
    if (turn.by === "tools")
      return turn.results.map(({ call, value }) => ({
        type: "function_call_output",
        call_id: call.id,
        output: JSON.stringify(value),
      }));
    const parts = [
      ...turn.texts.map((text) => ({ type: "input_text", text })),
      ...listIf(turn.image !== undefined, { type: "input_image", image_url: turn.image }),
    ];
    return [{ role: "user", content: parts.length === 1 ? turn.texts[0] : parts }];
  });
  const [only] = turns;
  const isText =
    turns.length === 1 && only?.by === "user" && only.texts.length === 1 && only.image === undefined;
  return {
    inputs: {
      model: "gpt-5",
      ...(system !== undefined && { instructions: system }),
      input: isText ? only.texts[0] : input,
      ...toolsIf(
        tools,
        tools.map((tool) => ({ type: "function", ...tool })),
      ),
    },
    output: {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "gpt-5",
      output: responseItems(answer, 99),
      incomplete_details: null,
      usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 },
    },
  };
}

function geminiParts({ text, calls }: Said): Json[] {
  return [
    { text: "hm", thought: true },
    ...listIf(text !== undefined, { text }),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args }, thoughtSignature: "s" })),
  ];
}

function geminiContent(turn: Turn): Json {
  if (turn.by === "assistant") return { role: "model", parts: geminiParts(turn) };
  if (turn.by === "tools")
    return {
      role: "user",
      parts: turn.results.map(({ call, value }) => ({
        functionResponse: { name: call.name, response: value },
      })),
    };
  const image = { inlineData: { mimeType: "image/png", data: turn.image?.split(",")[1] } };
  return {
    role: "user",
    parts: [...turn.texts.map((text) => ({ text })), ...listIf(turn.image !== undefined, image)],
  };
}

export function gemini({ system, turns, answer, tools }: Conversation): Recorded {
  const functionDeclarations = tools.map(({ name, description }) => ({
    name,
    description,
    parameters: { type: "OBJECT", properties: { type: { type: "STRING" } } },
  }));
  return {
    inputs: {
      ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
      contents: turns.map(geminiContent),
      ...toolsIf(tools, [{ functionDeclarations }]),
      model: "gemini-2.5-flash",
    },
    output: {
      candidates: [
        { content: { role: "model", parts: geminiParts(answer) }, finishReason: "STOP", index: 0 },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 3, totalTokenCount: 13 },
      modelVersion: "gemini-2.5-flash",
      responseId: "r1",
    },
  };
}
