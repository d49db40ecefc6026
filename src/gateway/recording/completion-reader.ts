import { isJsonObject, isTooDeep } from "../../shared/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** How complete the provider's own token count is. */
export type CountedUsage =
  | { readonly basis: "exact" | "partial"; readonly usage: Json }
  | { readonly basis: "none" };

interface ToolCall {
  id: string | undefined;
  type: string;
  name: string;
  arguments: string;
}

interface Choice {
  role: string;
  finishReason: string | null;
  text: Map<string, string>;
  toolCalls: Map<number, ToolCall>;
}

/** Members of a message or delta with text that the model wrote. */
const TEXT_MEMBERS = ["content", "refusal", "reasoning_content", "reasoning"] as const;
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_CHOICES = 1024;

/** Assembles the output and usage of one completion from its chunks or its whole body. Memory: the text it keeps. */
export class CompletionReader {
  #id: string | undefined;
  #model: string | undefined;
  #serviceTier: string | undefined;
  #textBytes = 0;
  #cut = false;
  readonly #keepText: boolean;
  readonly #choices = new Map<number, Choice>();
  #total: Json | undefined;
  /** Running counts that some providers add to every chunk, for each choice separately. */
  readonly #running = new Map<number, Json>();

  constructor(options: { keepText: boolean }) {
    this.#keepText = options.keepText;
  }

  /** The model that the response names. */
  get model(): string | undefined {
    return this.#model;
  }

  /** The tier that the response names. */
  get serviceTier(): string | undefined {
    return this.#serviceTier;
  }

  /** Bytes of text that the model wrote, in all choices. */
  get textBytes(): number {
    return this.#textBytes;
  }

  /** Reads a chunk of a stream, or a whole completion: both have choices and, sooner or later, usage. */
  read(part: Json): void {
    this.#id ??= textOf(part["id"]);
    this.#model = textOf(part["model"]) ?? this.#model;
    this.#serviceTier = textOf(part["service_tier"]) ?? this.#serviceTier;
    const choices = Array.isArray(part["choices"]) ? part["choices"].filter(isJsonObject) : [];
    choices.forEach((choice, position) => this.#readChoice(choice, position));
    const { usage, x_groq: groq } = part;
    this.#readUsage(usage ?? (isJsonObject(groq) ? groq["usage"] : undefined), choices);
  }

  /** Counts text of which only the length is known. */
  skip(textBytes: number): void {
    if (textBytes === 0) return;
    this.#textBytes += textBytes;
    this.#cut = true;
  }

  /** Whether it has read any choice, even an empty one. */
  get hasChoices(): boolean {
    return this.#choices.size > 0;
  }

  /** `finished`: the response is complete. */
  usage(finished: boolean): CountedUsage {
    if (this.#total !== undefined) return { basis: "exact", usage: this.#total };
    const running = [...this.#running.values()];
    const [first] = running;
    if (first === undefined) return { basis: "none" };
    const completionTokens = running.reduce((sum, usage) => sum + count(usage["completion_tokens"]), 0);
    const usage = {
      ...first,
      completion_tokens: completionTokens,
      total_tokens: count(first["prompt_tokens"]) + completionTokens,
    };
    return { basis: finished ? "exact" : "partial", usage: running.length === 1 ? first : usage };
  }

  /** The output in the form of a completion that was not streamed; null without any part of one. */
  output(): Json | null {
    const head = {
      ...(this.#id === undefined ? {} : { id: this.#id }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#serviceTier === undefined ? {} : { service_tier: this.#serviceTier }),
    };
    if (!this.#keepText || this.#choices.size === 0) return Object.keys(head).length === 0 ? null : head;
    const choices = [...this.#choices]
      .toSorted(([a], [b]) => a - b)
      .map(([index, choice]) => ({ index, message: toMessage(choice), finish_reason: choice.finishReason }));
    return { ...head, choices, ...(this.#cut ? { truncated: true } : {}) };
  }

  #readChoice(choice: Json, position: number): void {
    const index = typeof choice["index"] === "number" ? choice["index"] : position;
    const said = choice["delta"] ?? choice["message"];
    const kept = this.#choice(index);
    if (kept === undefined) return;
    if (typeof choice["finish_reason"] === "string") kept.finishReason = choice["finish_reason"];
    if (!isJsonObject(said)) return;
    if (typeof said["role"] === "string") kept.role = said["role"];
    for (const member of TEXT_MEMBERS) {
      const text = plainText(said[member]);
      if (text !== "" && this.#keep(text)) {
        kept.text.set(member, (kept.text.get(member) ?? "") + text);
      }
    }
    const calls = Array.isArray(said["tool_calls"]) ? said["tool_calls"].filter(isJsonObject) : [];
    calls.forEach((call, at) => this.#readToolCall(kept, call, at));
  }

  #readToolCall(kept: Choice, call: Json, position: number): void {
    const index = typeof call["index"] === "number" ? call["index"] : position;
    const made = isJsonObject(call["function"]) ? call["function"] : {};
    const name = typeof made["name"] === "string" ? made["name"] : "";
    const args = typeof made["arguments"] === "string" ? made["arguments"] : "";
    if (!this.#keep(name + args)) return;
    const known = kept.toolCalls.get(index) ?? { id: undefined, type: "function", name: "", arguments: "" };
    if (typeof call["id"] === "string") known.id = call["id"];
    if (typeof call["type"] === "string") known.type = call["type"];
    known.name += name;
    known.arguments += args;
    kept.toolCalls.set(index, known);
  }

  #readUsage(usage: unknown, choices: readonly Json[]): void {
    if (!isJsonObject(usage) || isTooDeep(usage)) return;
    const index = choices[0]?.["index"];
    if (choices.length === 1 && typeof index === "number" && choices[0]?.["delta"] !== undefined) {
      this.#running.set(index, usage);
    } else {
      this.#total = usage;
    }
  }

  #choice(index: number): Choice | undefined {
    const known = this.#choices.get(index);
    if (known !== undefined || this.#choices.size >= MAX_CHOICES) return known;
    const fresh: Choice = { role: "assistant", finishReason: null, text: new Map(), toolCalls: new Map() };
    this.#choices.set(index, fresh);
    return fresh;
  }

  /** Counts text, and returns whether to keep it. */
  #keep(text: string): boolean {
    this.#textBytes += Buffer.byteLength(text);
    if (this.#keepText && this.#textBytes > MAX_KEPT_BYTES) this.#cut = true;
    return this.#keepText && !this.#cut;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Text, or the text of a list of parts. */
function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part) => (isJsonObject(part) ? (textOf(part["text"]) ?? "") : "")).join("");
}

function toMessage(choice: Choice): Json {
  const toolCalls = [...choice.toolCalls]
    .toSorted(([a], [b]) => a - b)
    .map(([, call]) => ({
      id: call.id,
      type: call.type,
      function: { name: call.name, arguments: call.arguments },
    }));
  return {
    role: choice.role,
    content: choice.text.get("content") ?? null,
    ...Object.fromEntries([...choice.text].filter(([member]) => member !== "content")),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
