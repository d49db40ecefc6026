import { isJsonObject, parseJson } from "../../shared/json.ts";
import { LeftOut, type ChatReason } from "./left-out.ts";
import { readAnswer } from "./read-answer.ts";
import { findRequest, readPrompt } from "./read-prompt.ts";
import { readTools } from "./read-tools.ts";
import { objectIn, type Json } from "./turn.ts";
import { MessageWriter } from "./write-messages.ts";

/** Call as stored: payloads are JSON text, `''` if absent. */
export interface RecordedCall {
  readonly op_name: string;
  readonly ended_at: string;
  readonly exception: string;
  readonly inputs: string;
  readonly output: string;
  readonly attributes: string;
}

/** A conversation in the form of OpenAI's chat. The members of its objects have a fixed order. */
export interface Example {
  /** All messages before the answer. */
  readonly messages: readonly Json[];
  readonly tools: readonly Json[] | undefined;
  readonly answer: Json;
  readonly finishReason: string;
  readonly logprobs: unknown;
}

/** Converts a call to an example, or returns why it is none. */
export function readExample(call: RecordedCall): Example | ChatReason {
  try {
    return exampleOf(call);
  } catch (error) {
    if (error instanceof LeftOut) return error.reason;
    throw error;
  }
}

function exampleOf(call: RecordedCall): Example {
  const inputs = parseJson(call.inputs || "{}");
  const recorded = parseJson(call.attributes || "{}");
  const attributes = isJsonObject(recorded) ? recorded : {};
  const request = findRequest(inputs, attributes);
  if (request === undefined)
    throw new LeftOut(isModelCall(call.op_name, inputs, attributes) ? "content_not_recorded" : "not_a_chat");
  if (call.ended_at === "") throw new LeftOut("unfinished");
  if (call.exception !== "") throw new LeftOut("failed");
  const answer = readAnswer(parseJson(call.output || "null"), attributes);
  const finishReason = FINISH_REASONS.find(([pattern]) => pattern.test(String(answer.finishReason)))?.[1];
  const isCalling = answer.pieces.some(({ kind }) => kind === "call");
  // the Weave SDKs drop the tool calls of streams, and mix the answers of a stream
  const lacksCalls = finishReason === "tool_calls" && !isCalling;
  const { stream, n } = request.members;
  const isMixed = stream === true && Number(n) > 1 && !isOfGateway(attributes);
  if (lacksCalls || isMixed) throw new LeftOut("content_not_recorded");
  const isEmpty = answer.pieces.every((piece) => piece.kind === "text" && piece.text === "");
  if (isEmpty) throw new LeftOut("no_answer");
  const writer = new MessageWriter();
  writer.add(readPrompt(request, attributes));
  const messages = [...writer.messages];
  if (messages.length === 0) throw new LeftOut("not_a_chat");
  return {
    messages,
    tools: readTools(request.members, attributes),
    answer: writer.assistant({ pieces: answer.pieces }),
    finishReason: finishReason ?? (isCalling ? "tool_calls" : "stop"),
    logprobs: answer.logprobs ?? null,
  };
}

/** True for a call to a model that answers in a chat, although its content is missing. */
function isModelCall(opName: string, inputs: unknown, attributes: Json): boolean {
  if (isJsonObject(inputs) && inputs["truncated"] === true) return true;
  if (isOfGateway(attributes)) return CHAT_OPS.test(opName);
  const operation = objectIn(attributes, "gen_ai", "operation")["name"];
  const isLlm = objectIn(attributes, "openinference", "span")["kind"] === "LLM";
  return operation === "chat" || operation === "generate_content" || isLlm;
}

function isOfGateway(attributes: Json): boolean {
  return objectIn(attributes, "sumtree")["source"] === "gateway";
}

const CHAT_OPS = /chat\.completions|messages|responses\.create|generate_content/;

/** Finish reasons as OpenAI names them. Gemini says `STOP` also for tool calls. */
const FINISH_REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(?:stop|end_turn|stop_sequence)$/, "stop"],
  [/^(?:length|max_tokens|MAX_TOKENS|max_output_tokens|model_length)$/, "length"],
  [/^(?:content[_-]filter|refusal|SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII)$/, "content_filter"],
  [/^(?:tool[_-]calls|tool_call|tool_use|function_call)$/, "tool_calls"],
];
