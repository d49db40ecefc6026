import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { entriesOfMessage } from "../../usage/response-entries.ts";
import { toCount } from "../../usage/to-count.ts";
import { anthropicTypeOf } from "../errors.ts";
import { addText, copyOf, keep } from "./content.ts";
import { newMembers, type Draft, type Json, type Members, MessageState, textOf } from "./draft.ts";
import { credible } from "./count-usage.ts";
import type { ModelApi } from "./model-api.ts";
import { writtenBytes } from "./written-text.ts";

const MAX_BLOCKS = 4096;
const OF_BODY: ReadonlySet<string> = new Set(["usage", "content"]);
/** Delta members, mapped to the block members they extend. */
const PIECES = new Map([
  ["text", "text"],
  ["thinking", "thinking"],
  ["signature", "signature"],
  ["partial_json", "input"],
]);

/** Anthropic's Messages API. */
export const messagesApi: Omit<ModelApi, "path" | "opName"> = {
  api: "anthropic",
  isLast: ({ type }) => type === "message_stop",
  errorEvent({ type, code, message }) {
    const error = { type: anthropicTypeOf(type), message, code };
    return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
  },
  fold(draft, event, isBody) {
    if (isBody) return foldBody(draft, event);
    if (event["type"] === "message_start") return foldStart(draft, event["message"]);
    const state = (draft.message ??= new MessageState());
    switch (event["type"]) {
      case "content_block_start":
        return foldBlock(draft, state, event);
      case "content_block_delta":
        return foldBlockDelta(draft, state, event);
      case "content_block_stop":
        return endBlock(state.blocks.get(Number(event["index"])));
      case "message_delta":
        return foldMessageDelta(draft, state, event);
      case "message_stop":
        draft.hasEnded = true;
        return undefined;
      default:
        return undefined;
    }
  },
  finish(draft) {
    if (draft.message === undefined) return;
    draft.output["content"] = [...draft.message.blocks.values()];
    if (Object.keys(draft.message.usage).length > 0) draft.output["usage"] = draft.message.usage;
  },
};

function foldBody(draft: Draft, message: Json): void {
  if (message["type"] === "error") return;
  const { content, usage } = message;
  foldHead(draft, message);
  draft.textBytes = writtenBytes({ content });
  draft.countedBytes = draft.textBytes;
  draft.hasEnded = true;
  if (draft.keepsContent)
    Object.assign(draft.output, copyOf(draft, { content: content ?? [], usage: usage ?? null }));
  const isFree = message["stop_reason"] === "refusal" && Array.isArray(content) && content.length === 0;
  if (isJsonObject(usage)) count(draft, usage, { isFree });
  draft.isCounted = draft.isPromptCounted = isJsonObject(usage);
}

function foldHead(draft: Draft, message: Json): void {
  draft.name(message["id"], message["model"]);
  if (draft.keepsContent) keep(draft, draft.output, message, OF_BODY);
}

/** Reads the message object; ignores a repeated one, which some servers send. */
function foldStart(draft: Draft, message: unknown): void {
  if (draft.message !== undefined || !isJsonObject(message)) return;
  draft.message = new MessageState();
  foldHead(draft, message);
  if (!isJsonObject(message["usage"])) return;
  draft.message.usage = message["usage"];
  draft.isPromptCounted = true;
  // the output count is a placeholder
  count(draft, { ...message["usage"], output_tokens: 0 });
}

function foldMessageDelta(draft: Draft, state: MessageState, { usage, delta }: Json): void {
  if (isJsonObject(delta)) {
    state.stopReason = delta["stop_reason"] ?? state.stopReason;
    if (draft.keepsContent) keep(draft, draft.output, said(delta));
  }
  if (isJsonObject(usage)) {
    state.usage = { ...state.usage, ...said(usage) };
    state.hasOutputCount = true;
    draft.countedBytes = draft.textBytes;
    count(draft, state.usage, { isFree: state.stopReason === "refusal" && state.blocks.size === 0 });
  }
  // after the stop reason, the count covers the whole message, and some servers end the stream
  draft.isCounted ||= state.stopReason != null && state.hasOutputCount;
  draft.hasEnded ||= draft.isCounted;
}

/** Members that are not null. */
function said(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value != null));
}

/** `isFree`: a refusal without content, which is not billed. */
function count(draft: Draft, usage: Json, { isFree = false } = {}): void {
  const { own = {}, others } = entriesOfMessage(credible(usage), draft.model);
  draft.usage = withTotal(isFree ? { ...own, service_tier: "unbilled" } : own);
  draft.others = Object.fromEntries(Object.entries(others).map(([name, one]) => [name, withTotal(one)]));
}

/** Adds `total_tokens` = input + output; cached tokens are counted separately. */
function withTotal(entry: Json): Json {
  return { ...entry, total_tokens: toCount(entry["input_tokens"]) + toCount(entry["output_tokens"]) };
}

function foldBlock(draft: Draft, { blocks }: MessageState, { index, content_block: block }: Json): void {
  if (typeof index !== "number" || !isJsonObject(block)) return;
  // another model continues from here
  const { type, to } = block;
  if (type === "fallback" && isJsonObject(to)) draft.model = textOf(to["model"]) ?? draft.model;
  draft.textBytes += writtenBytes({ content: block });
  if (blocks.size >= MAX_BLOCKS) draft.isTruncated = true;
  else blocks.set(index, draft.keepsContent ? copyOf(draft, block) : newMembers());
}

function foldBlockDelta(draft: Draft, { blocks }: MessageState, { index, delta }: Json): void {
  if (!isJsonObject(delta)) return;
  const block = blocks.get(Number(index));
  for (const [name, member] of PIECES) {
    const piece = delta[name];
    if (typeof piece !== "string") continue;
    if (name !== "signature") draft.textBytes += Buffer.byteLength(piece);
    if (draft.keepsContent && block !== undefined) addText(draft, block, member, piece);
  }
}

/** The input of a tool comes as JSON text. */
function endBlock(block: Members | undefined): void {
  if (typeof block?.["input"] !== "string") return;
  block["input"] = block["input"] === "" ? {} : (parseOrUndefined(block["input"]) ?? block["input"]);
}
