import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { LeftOut, requireRecorded } from "./left-out.ts";
import { readParts } from "./read-part.ts";
import { callsIn, readTurn } from "./read-turn.ts";
import { first, objectIn, type Json, type Piece } from "./turn.ts";

/** First answer of a model. */
export interface Answer {
  readonly pieces: readonly Piece[];
  /** As the provider calls it. */
  readonly finishReason?: unknown;
  readonly logprobs?: unknown;
}

/** Reads the first answer in the output of a call. Throws `LeftOut`. */
export function readAnswer(output: unknown, attributes: Json): Answer {
  requireRecorded(output);
  if (Array.isArray(output)) return readMessages(output, attributes);
  if (!isJsonObject(output)) return readTextAnswer(output, attributes);
  if (output["truncated"] === true) throw new LeftOut("truncated");
  const { choices, candidates, output: items, responses, messages, role } = output;
  if (Array.isArray(choices)) return readChoice(choices);
  if (Array.isArray(candidates)) return readCandidate(candidates[0]);
  // some servers send the text in deltas alone
  if (Array.isArray(items)) return readItems(output, items.length > 0 ? items : output["output_text"]);
  if (role === "assistant") return readMessage(output, output["stop_reason"]);
  // the Weave SDK's streams
  const [response] = lastObjects(responses);
  if (response !== undefined) return readAnswer(response, attributes);
  const [message] = lastObjects(messages);
  if (message?.["role"] === "assistant") return readMessage(withDeltas(message), message["stop_reason"]);
  const isEmpty = first(output, "usage", "usageMetadata", "promptFeedback", "error", "model") !== undefined;
  throw new LeftOut(isEmpty && !("data" in output) ? "no_answer" : "not_a_chat");
}

function lastObjects(list: unknown): readonly Json[] {
  return Array.isArray(list) ? list.filter(isJsonObject).slice(-1) : [];
}

function readMessage(message: unknown, finishReason: unknown, logprobs?: unknown): Answer {
  const hasNoRole = isJsonObject(message) && message["role"] == null;
  const turn = readTurn(hasNoRole ? { ...message, role: "assistant" } : message);
  if (turn?.role !== "assistant") throw new LeftOut("unsupported_content");
  return { pieces: turn.pieces, finishReason, logprobs };
}

function readChoice(choices: readonly unknown[]): Answer {
  const all = choices.filter(isJsonObject);
  const choice = all.find(({ index }) => index === 0) ?? all[0] ?? {};
  const { message, text, finish_reason: finishReason, logprobs } = choice;
  if (!isJsonObject(message)) throw new LeftOut(text === undefined ? "no_answer" : "not_a_chat");
  return readMessage(message, finishReason, logprobs);
}

function readCandidate(candidate: unknown): Answer {
  if (!isJsonObject(candidate) || !isJsonObject(candidate["content"])) throw new LeftOut("no_answer");
  const finishReason = first(candidate, "finishReason", "finish_reason");
  return { pieces: readParts(candidate["content"]["parts"]), finishReason };
}

/** Joins the items of a response, which are one answer. */
function readItems(response: Json, items: unknown): Answer {
  const { status } = response;
  if (status === "failed" || status === "cancelled") throw new LeftOut("failed");
  if (status === "in_progress" || status === "queued") throw new LeftOut("unfinished");
  const pieces = Array.isArray(items)
    ? items.flatMap((item: unknown) => readTurn(item)?.pieces ?? [])
    : readParts(items);
  return { pieces, finishReason: objectIn(response, "incomplete_details")["reason"] };
}

/** Reads messages of OpenTelemetry, one per answer, or tool calls of the AI SDK. */
function readMessages(list: readonly unknown[], attributes: Json): Answer {
  const [message] = list;
  if (message === undefined) throw new LeftOut("no_answer");
  if (isJsonObject(message) && "toolCallId" in message) return readTextAnswer("", attributes, list);
  const finishReason = isJsonObject(message) ? first(message, "finish_reason", "finishReason") : undefined;
  return readMessage(message, finishReason);
}

/** Reads a text, and tool calls, as the AI SDK records them; OpenInference has the messages of a text as attributes. */
function readTextAnswer(text: unknown, attributes: Json, calls?: unknown): Answer {
  const messages = objectIn(attributes, "llm")["output_messages"];
  if (Array.isArray(messages)) return readMessages(messages, {});
  if (!isJsonObject(attributes["ai"])) throw new LeftOut((text ?? "") === "" ? "no_answer" : "not_a_chat");
  const response = objectIn(attributes, "ai", "response");
  const { toolCalls = calls, finishReason } = response;
  const called = typeof toolCalls === "string" ? parseOrUndefined(toolCalls) : toolCalls;
  return { pieces: [...readParts(text === "" ? undefined : text), ...callsIn(called)], finishReason };
}

/** Folds the deltas that the Weave SDK lists behind the block of Anthropic that they continue. */
function withDeltas(message: Json): Json {
  const blocks: Record<string, unknown>[] = [];
  const list: readonly unknown[] = Array.isArray(message["content"]) ? message["content"] : [];
  for (const item of list.filter(isJsonObject)) {
    const { type, text, partial_json: json } = item;
    const last = blocks.at(-1);
    if (last === undefined || !String(type).endsWith("_delta")) blocks.push({ ...item });
    else if (type === "text_delta") last["text"] = `${stringIn(last["text"])}${stringIn(text)}`;
    else if (type === "input_json_delta") last["input"] = `${stringIn(last["input"])}${stringIn(json)}`;
  }
  return { ...message, content: blocks };
}

function stringIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
