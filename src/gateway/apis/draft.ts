export type Json = Readonly<Record<string, unknown>>;
/** Members of recorded content. Without prototype, because responses choose the names. */
export type Members = Record<string, unknown>;

export class Choice {
  readonly facts = newMembers();
  message = newMembers();
  /** The message came in one piece. */
  isWhole = false;
  /** A legacy completion: `text` instead of `message`. */
  isText = false;
  writtenBytes = 0;
  hasEnded = false;
}

export class ChoicesState {
  readonly byIndex = new Map<number, Choice>();
  /** Choice of the last count, if it was that of one choice. */
  counted: number | undefined;
  /** Single choices were counted, so the last count is not that of all. */
  hasMixedCounts = false;
}

export class MessageState {
  /** Usage as reported so far. */
  usage: Json = {};
  stopReason: unknown;
  /** Output tokens were counted after the beginning. */
  hasOutputCount = false;
  readonly blocks = new Map<number, Members>();
}

export class ResponseState {
  status: string | undefined;
  isBackground = false;
  createdAtMs: number | undefined;
  /** Text in bytes of complete output items. */
  itemBytes = 0;
}

export class Candidate {
  readonly facts = newMembers();
  readonly parts: Members[] = [];
  hasEnded = false;
}

export class GeminiState {
  readonly candidates = new Map<number, Candidate>();
  /** Usage as reported so far. */
  usage: Json = {};
}

/** A response as far as it has been read. `ModelApi.fold` adds each event of a stream, or the body, to it. */
export class Draft {
  readonly keepsContent: boolean;
  id: string | undefined;
  model: string | undefined;
  tier: string | undefined;
  failure: string | undefined;
  /** The error was that of the whole response. */
  hasFailed = false;
  /** Nothing of the response is missing. */
  hasEnded = false;
  /** Usage as reported, in the provider's format. */
  usage: Json | undefined;
  /** Usage of other models that took part, by model. */
  others: Readonly<Record<string, Json>> = {};
  textBytes = 0;
  /** Text in bytes that the last count of output tokens covers. */
  countedBytes = 0;
  /** The usage is that of the whole response. */
  isCounted = false;
  /** The prompt is counted, even as zero. */
  isPromptCounted = false;
  /** Content of the response as if it had not been streamed. */
  output = newMembers();
  contentBytes = 0;
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
