import { isJsonObject, parseJson } from "../../shared/json.ts";
import { LeftOut, type ChatReason } from "./left-out.ts";
import { readAnswer, type Answer } from "./read-answer.ts";
import { findRequest, readPrompt } from "./read-prompt.ts";
import { objectIn, readTools } from "./read-tools.ts";
import type { Json } from "./turn.ts";
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
  const attributes = parseJson(call.attributes || "{}");
  const own = isJsonObject(attributes) ? attributes : {};
  const request = findRequest(inputs, own);
  if (request === undefined)
    throw new LeftOut(isModelCall(call.op_name, inputs, own) ? "content_not_recorded" : "not_a_chat");
  if (call.ended_at === "") throw new LeftOut("unfinished");
  if (call.exception !== "") throw new LeftOut("failed");
  const answer = readAnswer(parseJson(call.output || "null"), own);
  requireWhole(answer, request.members, own);
  const writer = new MessageWriter();
  writer.add(readPrompt(request, own));
  const messages = [...writer.messages];
  if (messages.length === 0) throw new LeftOut("not_a_chat");
  return {
    messages,
    tools: readTools(request.members, own),
    answer: writer.assistant({ pieces: answer.pieces }),
    finishReason: finishReasonOf(answer),
    logprobs: answer.logprobs ?? null,
  };
}

/** True for a call to a model that answers in a chat, although its content is missing. */
function isModelCall(opName: string, inputs: unknown, attributes: Json): boolean {
  if (isJsonObject(inputs) && inputs["truncated"] === true) return true;
  if (objectIn(attributes, "sumtree")["source"] === "gateway") return CHAT_OPS.test(opName);
  const operation = objectIn(objectIn(attributes, "gen_ai"), "operation")["name"];
  const isLlm = objectIn(objectIn(attributes, "openinference"), "span")["kind"] === "LLM";
  return operation === "chat" || operation === "generate_content" || isLlm;
}

const CHAT_OPS = /chat\.completions|messages|responses\.create|generate_content/;

/** Throws `LeftOut` for an answer that is empty, or of which the client recorded a part only. */
function requireWhole({ pieces, finishReason }: Answer, members: Json, attributes: Json): void {
  const calls = pieces.filter(({ kind }) => kind === "call").length;
  // the Weave SDKs drop the tool calls of streams, and mix the answers of a stream
  const lacksCalls = calls === 0 && typeof finishReason === "string" && CALLED.has(finishReason);
  const isMixed =
    members["stream"] === true &&
    Number(members["n"]) > 1 &&
    objectIn(attributes, "sumtree")["source"] !== "gateway";
  if (lacksCalls || isMixed) throw new LeftOut("content_not_recorded");
  const isEmpty = pieces.every((piece) => piece.kind === "text" && piece.text === "");
  if (isEmpty) throw new LeftOut("no_answer");
}

const CALLED: ReadonlySet<string> = new Set([
  "tool_calls",
  "function_call",
  "tool_use",
  "tool-calls",
  "tool_call",
]);
const FINISH_REASONS: ReadonlyMap<unknown, string> = new Map([
  ...["stop", "end_turn", "stop_sequence"].map((name) => [name, "stop"] as const),
  ...["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length"].map(
    (name) => [name, "length"] as const,
  ),
  ...[
    "content_filter",
    "content-filter",
    "refusal",
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
  ].map((name) => [name, "content_filter"] as const),
  ...[...CALLED].map((name) => [name, "tool_calls"] as const),
]);

/** Returns the finish reason as OpenAI names it; without one that is known, an answer ends with its tool calls or stops. */
function finishReasonOf({ pieces, finishReason }: Answer): string {
  const isCalling = pieces.some(({ kind }) => kind === "call");
  return FINISH_REASONS.get(finishReason) ?? (isCalling ? "tool_calls" : "stop");
}

/** Writes the line of a chat. */
export function chatLine({ messages, answer, tools }: Example): string {
  return JSON.stringify({ messages: [...messages, answer], ...(tools !== undefined && { tools }) });
}
