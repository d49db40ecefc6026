export type Json = Readonly<Record<string, unknown>>;
/** Members of recorded content. Without prototype, because responses choose the names. */
export type Members = Record<string, unknown>;

export interface ChoicesState {
  readonly byIndex: Map<number, Choice>;
  /** Choice of the last count, if it was that of one choice. */
  counted: number | undefined;
  /** Single choices were counted, so the last count is not that of all. */
  hasMixedCounts: boolean;
}

export interface Choice {
  readonly facts: Members;
  message: Members;
  /** The message came in one piece. */
  isWhole: boolean;
  /** A legacy completion: `text` instead of `message`. */
  isText: boolean;
  writtenBytes: number;
  hasEnded: boolean;
}

export interface MessageState {
  /** Usage as reported so far. */
  usage: Json;
  stopReason: unknown;
  /** Output tokens were counted after the beginning. */
  hasOutputCount: boolean;
  readonly blocks: Map<number, Members>;
}

export interface ResponseState {
  status: string | undefined;
  isBackground: boolean;
  createdAtMs: number | undefined;
  /** Text in bytes of complete output items. */
  itemBytes: number;
}

export interface GeminiState {
  readonly candidates: Map<number, Candidate>;
  /** Usage as reported so far. */
  usage: Json;
}

export interface Candidate {
  readonly facts: Members;
  readonly parts: Members[];
  hasEnded: boolean;
}

/** A response as far as it has been read. `ModelApi.fold` adds each event of a stream, or the body, to it. */
export class Draft {
  readonly keepsContent: boolean;
  id: string | undefined;
  model: string | undefined;
  tier: string | undefined;
  /** Error that the response reports. */
  failure: string | undefined;
  /** The error was that of the whole response. */
  hasFailed = false;
  /** Nothing of the response is missing. */
  hasEnded = false;
  /** Usage as reported, in the provider's format. */
  usage: Json | undefined;
  /** Usage of other models that took part, by model. */
  others: Readonly<Record<string, Json>> = {};
  /** Generated text in bytes. */
  textBytes = 0;
  /** Text in bytes that the last count of output tokens covers. */
  countedBytes = 0;
  /** The usage is that of the whole response. */
  isCounted = false;
  /** The prompt is counted, even as zero. */
  isPromptCounted = false;
  /** Content of the response as if it had not been streamed. */
  output = newMembers();
  /** Size of the recorded content in bytes. */
  contentBytes = 0;
  /** Some content was left out. */
  isTruncated = false;
  /** State of each fold between events. */
  choices: ChoicesState | undefined;
  message: MessageState | undefined;
  response: ResponseState | undefined;
  gemini: GeminiState | undefined;

  constructor(keepsContent: boolean) {
    this.keepsContent = keepsContent;
  }

  /** Notes who responds. What an event does not name stays. */
  name(id: unknown, model: unknown, tier?: unknown): void {
    this.id = textOf(id) ?? this.id;
    this.model = textOf(model) ?? this.model;
    this.tier = textOf(tier) ?? this.tier;
  }
}

export function newMembers(): Members {
  return Object.create(null) as Members;
}

/** Returns a non-empty string, else `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
