import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { LeftOut, requireRecorded } from "./left-out.ts";
import { readParts } from "./read-part.ts";
import { callsIn, readTurn } from "./read-turn.ts";
import { objectIn } from "./read-tools.ts";
import { first, textIn, type Json, type Piece } from "./turn.ts";

/** First answer of a model. */
export interface Answer {
  readonly pieces: readonly Piece[];
  /** As the provider calls it. */
  readonly finishReason: unknown;
  readonly logprobs: unknown;
}

/** Reads the first answer in the output of a call. Throws `LeftOut`. */
export function readAnswer(output: unknown, attributes: Json): Answer {
  requireRecorded(output);
  if (Array.isArray(output)) return readMessages(output, attributes);
  if (typeof output === "string" || output == null) return readTextAnswer(output ?? "", attributes);
  if (!isJsonObject(output)) throw new LeftOut("not_a_chat");
  if (output["truncated"] === true) throw new LeftOut("truncated");
  const { choices, candidates, output: items, responses, messages } = output;
  if (Array.isArray(choices)) return readChoice(choices);
  if (Array.isArray(candidates)) return readCandidate(candidates[0]);
  // some servers send the text in deltas alone
  if (Array.isArray(items)) return readItems(output, items.length > 0 ? items : output["output_text"]);
  if (output["role"] === "assistant") return readAnthropic(output);
  // the Weave SDK's streams
  const [response] = lastObjects(responses);
  if (response !== undefined) return readAnswer(response, attributes);
  const [message] = lastObjects(messages);
  if (message?.["role"] === "assistant") return readAnthropic(withDeltas(message));
  throw new LeftOut(isEmptyAnswer(output) ? "no_answer" : "not_a_chat");
}

/** True for an output that names a model and a response without content. */
function isEmptyAnswer(output: Json): boolean {
  return (
    ["usage", "usageMetadata", "promptFeedback", "error", "model"].some((name) => output[name] != null) &&
    !("data" in output)
  );
}

function lastObjects(list: unknown): readonly Json[] {
  return Array.isArray(list) ? list.filter(isJsonObject).slice(-1) : [];
}

function answerOf(value: unknown, facts: Partial<Answer> = {}): Answer {
  const turn = readTurn(
    isJsonObject(value) && value["role"] == null && !("message" in value)
      ? { ...value, role: "assistant" }
      : value,
  );
  if (turn?.role !== "assistant") throw new LeftOut("unsupported_content");
  return { finishReason: undefined, logprobs: null, ...facts, pieces: turn.pieces };
}

function readChoice(choices: readonly unknown[]): Answer {
  const all = choices.filter(isJsonObject);
  const choice = all.find(({ index }) => index === 0) ?? all[0];
  if (choice === undefined) throw new LeftOut("no_answer");
  const { message, text, finish_reason: finishReason, logprobs = null } = choice;
  if (!isJsonObject(message)) throw new LeftOut(text === undefined ? "no_answer" : "not_a_chat");
  return answerOf(message, { finishReason, logprobs });
}

function readCandidate(candidate: unknown): Answer {
  const content = isJsonObject(candidate) ? candidate["content"] : undefined;
  if (!isJsonObject(candidate) || !isJsonObject(content)) throw new LeftOut("no_answer");
  const finishReason = first(candidate, "finishReason", "finish_reason");
  return { pieces: readParts(content["parts"]), finishReason, logprobs: null };
}

function readAnthropic(message: Json): Answer {
  return answerOf(message, { finishReason: message["stop_reason"] });
}

/** Joins the items of a response, which are one answer. */
function readItems(response: Json, items: unknown): Answer {
  const { status } = response;
  if (status === "failed" || status === "cancelled") throw new LeftOut("failed");
  if (status === "in_progress" || status === "queued") throw new LeftOut("unfinished");
  const pieces = Array.isArray(items)
    ? items.flatMap((item: unknown) => readTurn(item)?.pieces ?? [])
    : readParts(items);
  return { pieces, finishReason: objectIn(response, "incomplete_details")["reason"], logprobs: null };
}

/** Reads messages of OpenTelemetry, one per answer, or tool calls of the AI SDK. */
function readMessages(list: readonly unknown[], attributes: Json): Answer {
  const [message] = list;
  if (message === undefined) throw new LeftOut("no_answer");
  if (isJsonObject(message) && message["toolCallId"] !== undefined)
    return readTextAnswer("", attributes, list);
  const answers = list.map((one) => answerOf(one));
  const own = isJsonObject(message) ? message : {};
  return { ...answers[0]!, finishReason: first(own, "finish_reason", "finishReason") };
}

/** Reads a text, and tool calls, as the AI SDK records them. */
function readTextAnswer(text: string, attributes: Json, calls?: unknown): Answer {
  const ai = attributes["ai"];
  if (text === "" && calls === undefined) {
    const other = objectIn(attributes, "llm")["output_messages"];
    if (Array.isArray(other)) return readMessages(other, attributes);
  }
  if (!isJsonObject(ai)) throw new LeftOut(text === "" ? "no_answer" : "not_a_chat");
  const response = objectIn(ai, "response");
  const toolCalls = calls ?? response["toolCalls"];
  const called = typeof toolCalls === "string" ? parseOrUndefined(toolCalls) : toolCalls;
  const pieces = [...readParts(text === "" ? undefined : text), ...callsIn(called)];
  return { pieces, finishReason: textIn(response, "finishReason"), logprobs: null };
}

const PIECES: ReadonlyMap<unknown, string> = new Map([
  ["text_delta", "text"],
  ["input_json_delta", "partial_json"],
]);
const NO_CONTENT: ReadonlySet<unknown> = new Set(["thinking_delta", "signature_delta", "citations_delta"]);

/** Folds the deltas that the Weave SDK lists behind the block of Anthropic that they continue. */
function withDeltas(message: Json): Json {
  const blocks: Record<string, unknown>[] = [];
  const list: readonly unknown[] = Array.isArray(message["content"]) ? message["content"] : [];
  for (const item of list.filter(isJsonObject)) {
    const last = blocks.at(-1);
    const member = PIECES.get(item["type"]);
    const piece = member === undefined ? undefined : item[member];
    if (NO_CONTENT.has(item["type"])) continue;
    if (last === undefined || typeof piece !== "string" || item["type"] === "text") blocks.push({ ...item });
    else if (member === "text") last["text"] = `${String(last["text"])}${piece}`;
    else last["input"] = `${typeof last["input"] === "string" ? last["input"] : ""}${piece}`;
  }
  return { ...message, content: blocks };
}
