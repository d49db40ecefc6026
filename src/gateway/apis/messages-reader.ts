import { isJsonObject, isTooDeep } from "../../shared/json.ts";
import { readEntry } from "../../usage/read-entry.ts";
import { entriesOfMessage } from "../../usage/response-entries.ts";
import { toCount } from "../../usage/to-count.ts";
import { parseOrUndefined } from "../parse-or-undefined.ts";
import { estimateTokens } from "../recording/estimate.ts";
import { capture, ByteBudget, toJson, type CapturedValue } from "../recording/byte-budget.ts";
import { onlyCredible } from "../recording/reported-usage.ts";
import { writtenBytes } from "../recording/streamed-text.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import type { ResponseReader, ResponseUsage, ReaderOptions } from "./model-api.ts";
import { textOf } from "./text-of.ts";

type Json = Readonly<Record<string, unknown>>;

interface Block {
  readonly facts: Map<string, CapturedValue>;
  /** Streamed text by block member. */
  readonly pieces: Map<string, string>;
}

const MAX_CAPTURED_BYTES = 1024 * 1024;
const MAX_BLOCKS = 4096;
/** Delta members, mapped to the block members they extend. */
const PIECES = new Map([
  ["text", "text"],
  ["thinking", "thinking"],
  ["signature", "signature"],
  ["partial_json", "input"],
]);

/**
 * Classifies an event: `last` ends the message; `enough` carries the final count, after which some servers close the
 * stream.
 */
export function endStateOfMessage(chunk: Json | undefined): "last" | "enough" | undefined {
  if (chunk?.["type"] === "message_stop") return "last";
  const delta = chunk?.["type"] === "message_delta" ? chunk["delta"] : undefined;
  return isJsonObject(delta) && delta["stop_reason"] != null ? "enough" : undefined;
}

/** Reads an Anthropic message, from one object or from its stream events. */
export class MessagesReader implements ResponseReader {
  readonly #capturesText: boolean;
  readonly #budget = new ByteBudget(MAX_CAPTURED_BYTES);
  readonly #blocks = new Map<number, Block>();
  #message: Json | undefined;
  #kept: CapturedValue | undefined;
  #ending: Json = {};
  #usage: Record<string, unknown> | undefined;
  #model: string | undefined;
  #textBytes = 0;
  #textAtCount: number | undefined;
  #hasEvents = false;
  #isOver = false;
  #isCounted = false;

  readonly failure = undefined;

  constructor({ capturesText }: ReaderOptions) {
    this.#capturesText = capturesText;
  }

  get model(): string | undefined {
    return this.#model;
  }

  /** Reported in the usage instead. */
  readonly serviceTier = undefined;

  get hasResponse(): boolean {
    return this.#message !== undefined;
  }

  get textBytes(): number {
    return this.#textBytes;
  }

  get capturedBytes(): number {
    return this.#budget.usedBytes;
  }

  get isIncomplete(): boolean {
    return this.#hasEvents && !this.#isOver;
  }

  read({ chunk, kind, isBody, droppedTextBytes, isPartial, isUnsent }: StreamEvent): void {
    if (kind === "error" || kind === "flat_error") this.#isOver = true;
    if (chunk === undefined) return;
    if (!isUnsent) {
      this.#textBytes += droppedTextBytes;
      if (isPartial) this.#budget.markTruncated();
    }
    if (isBody) return this.#readWhole(chunk);
    this.#hasEvents = true;
    switch (chunk["type"]) {
      case "message_start":
        return isJsonObject(chunk["message"]) ? this.#start(chunk["message"]) : undefined;
      case "content_block_start":
        return this.#startBlock(chunk);
      case "content_block_delta":
        return isUnsent ? undefined : this.#extendBlock(chunk);
      case "message_delta":
        return this.#readDelta(chunk);
      case "message_stop":
        this.#isOver = true;
        return undefined;
      default:
        return undefined;
    }
  }

  usage(): ResponseUsage {
    if (this.#usage === undefined) return { basis: "none" };
    const usage = onlyCredible(this.#usage);
    const { own = {}, others } = entriesOfMessage(usage, this.#model);
    const isSilent = readEntry(own).totalTokens === 0 && Object.keys(others).length === 0;
    if (this.#isCounted && isSilent && this.#textBytes > 0) return { basis: "none", usage: own, others };
    if (this.#isCounted) return { basis: "exact", usage: withTotal(freed(own, this.#isRefusal)), others };
    // a `message_start` count is a placeholder; a later count covers the text before it
    const counted = this.#textAtCount === undefined ? 0 : toCount(own["output_tokens"]);
    const output = counted + estimateTokens(this.#textBytes - (this.#textAtCount ?? 0));
    return { basis: "partial", usage: withTotal({ ...own, output_tokens: output }), others };
  }

  output(): Json | null {
    if (this.#message === undefined) return null;
    const { id } = this.#message;
    const named = {
      ...(id === undefined ? {} : { id }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
    };
    if (!this.#capturesText) return named;
    const content = [...this.#blocks].toSorted(([a], [b]) => a - b).map(([, block]) => blockOf(block));
    return {
      ...(this.#kept === undefined ? {} : (toJson(this.#kept) as Json)),
      ...named,
      ...(this.#hasEvents ? { content, ...this.#ending } : {}),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#budget.isTruncated ? { truncated: true } : {}),
    };
  }

  /** True for a refusal without content, which is not billed. */
  get #isRefusal(): boolean {
    const reason = this.#ending["stop_reason"] ?? this.#message?.["stop_reason"];
    const content = this.#message?.["content"];
    const isEmpty = this.#hasEvents
      ? this.#blocks.size === 0
      : Array.isArray(content) && content.length === 0;
    return reason === "refusal" && isEmpty;
  }

  #readWhole(message: Json): void {
    if (message["type"] === "error") return;
    this.#start(message);
    this.#textBytes += writtenBytes({ content: message["content"] });
    this.#isCounted = isJsonObject(message["usage"]);
    this.#isOver = true;
  }

  /** Reads the message object; ignores a repeated one, which some servers send. */
  #start(message: Json): void {
    if (this.#message !== undefined || isTooDeep(message)) return;
    this.#message = message;
    this.#model = textOf(message["model"]);
    const { usage, ...others } = message;
    if (isJsonObject(usage)) this.#usage = { ...usage };
    if (this.#capturesText) this.#kept = capture(others, this.#budget);
  }

  #readDelta({ usage, delta }: Json): void {
    if (isJsonObject(delta)) {
      const said = Object.entries(delta).filter(([, value]) => value != null && !isTooDeep(value));
      this.#ending = { ...this.#ending, ...Object.fromEntries(said) };
    }
    if (isJsonObject(usage) && !isTooDeep(usage)) {
      const said = Object.entries(usage).filter(([, value]) => value != null);
      this.#usage = { ...this.#usage, ...Object.fromEntries(said) };
      this.#textAtCount = this.#textBytes;
    }
    // after the stop reason, the count covers the whole message
    if (this.#ending["stop_reason"] !== undefined && this.#textAtCount !== undefined) {
      this.#isCounted = true;
      this.#isOver = true;
    }
  }

  #startBlock({ index, content_block: raw }: Json): void {
    if (typeof index !== "number" || !isJsonObject(raw) || isTooDeep(raw)) return;
    // another model continues from here
    const { type, to } = raw;
    if (type === "fallback" && isJsonObject(to)) this.#model = textOf(to["model"]) ?? this.#model;
    if (this.#blocks.size >= MAX_BLOCKS) return this.#budget.markTruncated();
    const kept = this.#capturesText ? capture(raw, this.#budget) : undefined;
    this.#blocks.set(index, { facts: kept instanceof Map ? kept : new Map(), pieces: new Map() });
    this.#textBytes += writtenBytes({ content: raw });
  }

  #extendBlock({ index, delta }: Json): void {
    if (!isJsonObject(delta)) return;
    const block = this.#blocks.get(Number(index));
    for (const [name, member] of PIECES) {
      const piece = delta[name];
      if (typeof piece !== "string") continue;
      if (name !== "signature") this.#textBytes += Buffer.byteLength(piece);
      if (this.#capturesText && block !== undefined && this.#budget.reserveText(piece, "text"))
        block.pieces.set(member, (block.pieces.get(member) ?? "") + piece);
    }
  }
}

function blockOf({ facts, pieces }: Block): Json {
  const block = { ...(toJson(facts) as Json) };
  for (const [member, text] of pieces) {
    const before = block[member];
    block[member] = member === "input" ? parsedOr(text) : (typeof before === "string" ? before : "") + text;
  }
  return block;
}

function parsedOr(text: string): unknown {
  const value = parseOrUndefined(text);
  return value === undefined || isTooDeep(value) ? text : value;
}

function freed(entry: Json, isFree: boolean): Json {
  return isFree ? { ...entry, service_tier: "unbilled" } : entry;
}

/** Adds `total_tokens` = input + output; cached tokens are counted separately. */
function withTotal(entry: Json): Json {
  return { ...entry, total_tokens: toCount(entry["input_tokens"]) + toCount(entry["output_tokens"]) };
}
