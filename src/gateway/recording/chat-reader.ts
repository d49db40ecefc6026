import { isJsonObject } from "../../shared/json.ts";
import type { ResponseReader } from "../apis/model-api.ts";
import { textOf } from "../apis/text-of.ts";
import { UNRECORDED } from "../stream/capture-rules.ts";
import { ChoiceTracker, indexOfChoice } from "../stream/choice-tracker.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import { usageIn } from "../stream/usage-in.ts";
import { Assembler } from "./assembler.ts";
import { bytesOf, capture, ByteBudget, toJson, type CapturedValue } from "./byte-budget.ts";
import { ReportedUsage, type CountedUsage } from "./reported-usage.ts";
import { writtenBytes } from "./streamed-text.ts";

type Json = Readonly<Record<string, unknown>>;
type Members = Map<string, CapturedValue>;

interface Choice {
  readonly facts: Members;
  message: Members;
  /** True if received as a complete message. */
  isComplete: boolean;
  /** Legacy completion: `text` instead of `message`. */
  isText: boolean;
  writtenBytes: number;
}

const MAX_CAPTURED_BYTES = 1024 * 1024;
const MAX_CHOICES = 1024;
/** Stream object types, mapped to their non-streamed equivalents. */
const FORMS = new Map([["chat.completion.chunk", "chat.completion"]]);
/** Members handled separately. */
const OF_RESPONSE = new Set([...UNRECORDED, "id", "model", "service_tier", "object", "choices", "usage"]);
const OF_CHOICE = new Set([...UNRECORDED, "index", "delta", "message", "text"]);
const OTHER_CONTENT = ["tool_calls", "function_call", "refusal", "audio"] as const;

/** Reads one chat completion, from stream events or one body. Memory: the captured content, at most 1 MiB. */
export class ChatReader implements ResponseReader {
  readonly failure = undefined;
  readonly #capturesText: boolean;
  readonly #budget = new ByteBudget(MAX_CAPTURED_BYTES);
  readonly #assembler = new Assembler(this.#budget);
  readonly #ends = new ChoiceTracker();
  readonly #usage = new ReportedUsage();
  readonly #facts: Members = new Map();
  readonly #choices = new Map<number, Choice>();
  #id: string | undefined;
  #model: string | undefined;
  #serviceTier: string | undefined;
  /** Value of `object`. */
  #form: string | undefined;
  #textBytes = 0;
  #hasEvents = false;
  #hasEnded = false;

  constructor(options: { capturesText: boolean }) {
    this.#capturesText = options.capturesText;
  }

  get model(): string | undefined {
    return this.#model;
  }

  get serviceTier(): string | undefined {
    return this.#serviceTier;
  }

  /** True once a choice has begun, even an empty one. */
  get hasResponse(): boolean {
    return this.#choices.size > 0;
  }

  get textBytes(): number {
    return this.#textBytes;
  }

  get capturedBytes(): number {
    return this.#budget.usedBytes;
  }

  get isIncomplete(): boolean {
    return this.#hasEvents && !this.#hasEnded && !this.#ends.all;
  }

  read(event: StreamEvent): void {
    const { kind, chunk, isBody, isUnsent } = event;
    this.#hasEnded ||= isBody || kind === "done" || kind === "error" || kind === "flat_error";
    if (!isUnsent) this.#countDropped(event);
    if (chunk === undefined) return;
    this.#hasEvents = true;
    this.#readFacts(chunk);
    const choices = Array.isArray(chunk["choices"]) ? chunk["choices"].filter(isJsonObject) : [];
    if (!isUnsent) {
      choices.forEach((choice, position) => this.#readChoice(choice, position));
      this.#ends.read(choices);
    }
    const usage = usageIn(chunk);
    if (usage === undefined) return;
    this.#usage.add(usage, {
      choice: choices.length === 1 ? indexOfChoice(choices[0]!, 0) : undefined,
      isFinal: isBody || (kind === "usage_only" && this.#ends.all),
      textBytes: this.textBytes,
    });
  }

  /** Computes the usage. `promptBytes`: prompt size in bytes of text. */
  usage(options: { readonly isComplete: boolean; readonly promptBytes: number }): CountedUsage {
    return this.#usage.count({ ...options, textBytes: this.textBytes });
  }

  /** Returns the output as a non-streamed completion; null if nothing was received. */
  output(): Json | null {
    const named = {
      ...(this.#id === undefined ? {} : { id: this.#id }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#serviceTier === undefined ? {} : { service_tier: this.#serviceTier }),
    };
    if (!this.#capturesText || !this.hasResponse) return Object.keys(named).length === 0 ? null : named;
    const choices = [...this.#choices]
      .toSorted(([a], [b]) => a - b)
      .map(([index, choice]) => toChoice(index, choice));
    const usage = this.#usage.reported;
    return {
      ...named,
      ...(this.#form === undefined ? {} : { object: FORMS.get(this.#form) ?? this.#form }),
      ...(toJson(this.#facts) as Json),
      choices,
      ...(usage === undefined ? {} : { usage }),
      ...(this.#budget.isTruncated ? { truncated: true } : {}),
    };
  }

  #countDropped({ droppedTextBytes, isPartial }: StreamEvent): void {
    this.#textBytes += droppedTextBytes;
    if (isPartial || droppedTextBytes > 0) this.#budget.markTruncated();
  }

  #readFacts(chunk: Json): void {
    this.#id ??= textOf(chunk["id"]);
    this.#model = textOf(chunk["model"]) ?? this.#model;
    this.#serviceTier = textOf(chunk["service_tier"]) ?? this.#serviceTier;
    if (!this.#capturesText) return;
    this.#form ??= textOf(chunk["object"]);
    this.#assembler.update(this.#facts, chunk, OF_RESPONSE);
  }

  #readChoice(raw: Json, position: number): void {
    const choice = this.#choiceAt(indexOfChoice(raw, position));
    if (choice === undefined) return;
    if (this.#capturesText) this.#assembler.update(choice.facts, raw, OF_CHOICE);
    const { delta, message, text } = raw;
    if (typeof text === "string") this.#readText(choice, text);
    if (isJsonObject(delta)) {
      const bytes = writtenBytes(delta);
      choice.writtenBytes += bytes;
      this.#textBytes += bytes;
      if (this.#capturesText) this.#assembler.extend(choice.message, delta);
    } else if (isJsonObject(message)) this.#readMessage(choice, message);
  }

  /** Reads the `text` of a legacy completion's choice. */
  #readText(choice: Choice, text: string): void {
    const bytes = Buffer.byteLength(text);
    choice.writtenBytes += bytes;
    this.#textBytes += bytes;
    choice.isText = true;
    if (this.#capturesText) this.#assembler.extend(choice.message, { text });
  }

  /** Replaces the deltas read so far by the complete message. */
  #readMessage(choice: Choice, message: Json): void {
    const bytes = writtenBytes(message);
    if (bytes < choice.writtenBytes) return;
    this.#textBytes += bytes - choice.writtenBytes;
    choice.writtenBytes = bytes;
    if (!this.#capturesText || (this.#budget.isTruncated && choice.message.size > 0)) return;
    choice.isComplete = true;
    this.#budget.refund(bytesOf(choice.message));
    const captured = capture(message, this.#budget);
    choice.message = captured instanceof Map ? captured : new Map<string, CapturedValue>();
  }

  #choiceAt(index: number): Choice | undefined {
    const known = this.#choices.get(index);
    if (known !== undefined || this.#choices.size >= MAX_CHOICES) return known;
    const added: Choice = {
      facts: new Map(),
      message: new Map(),
      isComplete: false,
      isText: false,
      writtenBytes: 0,
    };
    this.#choices.set(index, added);
    return added;
  }
}

function toChoice(index: number, { facts, message, isComplete, isText }: Choice): Json {
  const members = toJson(message) as Json;
  if (isText) return { index, ...members, finish_reason: null, ...(toJson(facts) as Json) };
  const calls = Array.isArray(members["tool_calls"]) ? { tool_calls: inOrder(members["tool_calls"]) } : {};
  // streams begin with empty content, even if they contain something else
  const hasOther = OTHER_CONTENT.some((name) => members[name] != null);
  const content = !isComplete && members["content"] === "" && hasOther ? { content: null } : {};
  return {
    index,
    message: { role: "assistant", content: null, ...members, ...calls, ...content },
    finish_reason: null,
    ...(toJson(facts) as Json),
  };
}

/** Sorts tool calls by `index` and removes it, as in non-streamed completions. */
function inOrder(calls: readonly unknown[]): readonly unknown[] {
  const indexed = calls.filter(isJsonObject).filter((call) => typeof call["index"] === "number");
  if (indexed.length < calls.length) return calls;
  return indexed
    .toSorted((a, b) => Number(a["index"]) - Number(b["index"]))
    .map(({ index: _index, ...call }) => call);
}
