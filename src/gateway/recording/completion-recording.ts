import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { assertNever } from "../../shared/assert-never.ts";
import { steadyClock, type Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { ResponseCopy } from "./response-copy.ts";
import { AskedRequest } from "./asked-request.ts";
import type { ChatRequest } from "./chat-request.ts";
import { ChatReader } from "./chat-reader.ts";
import { estimateTokens } from "./estimate.ts";
import type { CompletionMarks, EndedCompletion } from "./recorded-completion.ts";
import type { Recorder } from "./recorder.ts";
import type { Outcome, RelayObserver } from "../relay/relay.ts";
import { readBody, type StreamEvent } from "../stream/stream-event.ts";
import type { TraceContext } from "./trace-context.ts";

export interface RecordingOptions {
  readonly project: Project;
  readonly trace: TraceContext;
  /** The id of the key that asks. */
  readonly apiKey: string;
  readonly requestId: string;
  readonly upstream: string;
  /** The provider there, as far as its address implies one. */
  readonly provider: string | undefined;
  readonly recorder: Recorder;
  readonly clock: Clock;
  /** Whether to store the messages, or only the usage. */
  readonly keepContent: boolean;
}

const RECORD_OVERHEAD_BYTES = 2048;
const KILLED = "The gateway was killed before the completion was complete.";

/** Observes one completion and passes it to the recorder when it ends, however it ends. */
export class CompletionRecording implements RelayObserver {
  readonly callId = randomUUID();
  readonly #options: RecordingOptions;
  readonly #startedAtMs: number;
  readonly #began = steadyClock.now();
  readonly #reader: ChatReader;
  #request = new AskedRequest();
  #sent = false;
  #started = false;
  #ended = false;
  #firstByteMs: number | null = null;
  #streamed = false;
  #encoding: string | undefined;
  #copy: ResponseCopy | undefined;
  /** The response is a redirect or an error, whatever its status. */
  #isRefusal = false;
  #exception: string | null = null;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.#reader = new ChatReader({ keepsText: options.keepContent });
  }

  /** The request, read while the upstream works so that it does not delay the completion. */
  asked(read: () => ChatRequest): void {
    this.#request = new AskedRequest(read);
  }

  onSend(): void {
    this.#sent = true;
    // once the request has left
    setImmediate(() => this.#start());
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#start();
    this.#firstByteMs = this.#elapsedMs();
    this.#encoding = headers["content-encoding"];
    this.#isRefusal = status >= 300;
    if (status >= 300 && status < 400) this.#exception = `The upstream redirected the request (${status}).`;
  }

  onEvent(event: StreamEvent): void {
    this.#streamed = true;
    this.#read(event);
  }

  onChunk(chunk: Buffer): void {
    this.#copy ??= new ResponseCopy(this.#encoding, (event) => this.#read(event));
    this.#copy.push(chunk);
  }

  onError(text: string): void {
    const body = readBody(text);
    if (body !== undefined) this.#read(body);
    this.#exception ??= text.slice(0, MAX_MESSAGE_LENGTH);
  }

  onOutcome(outcome: Outcome, status: number | undefined): Promise<void> | undefined {
    const endedAtMs = this.#startedAtMs + this.#elapsedMs();
    this.#ended = true;
    const record = (): void => this.#record(outcome, { status, endedAtMs });
    const recorded = this.#copy?.finish()?.then(record);
    if (recorded === undefined) record();
    else this.#options.recorder.expect(recorded);
    return recorded;
  }

  /** What is known of it now, for the case that this process is killed before its end. */
  #start(): void {
    if (this.#started || this.#ended) return;
    this.#started = true;
    this.#options.recorder.start(this.#options.project, () => {
      const facts = { status: undefined, endedAtMs: this.#startedAtMs };
      const { readInputs, ...known } = this.#completion("aborted", facts);
      return { ...known, inputs: readInputs(), exception: KILLED };
    });
  }

  #read(event: StreamEvent): void {
    this.#reader.read(event);
    if (event.kind === "error" || event.kind === "flat_error") this.#isRefusal = true;
    this.#exception ??= event.error ?? null;
  }

  #record(relayed: Outcome, facts: { status: number | undefined; endedAtMs: number }): void {
    const recorded = this.#completion(this.#outcome(relayed), facts);
    const { bytes, hasInputs } = this.#request.facts;
    const kept = hasInputs && this.#options.keepContent ? bytes : 0;
    this.#options.recorder.record(
      this.#options.project,
      recorded,
      RECORD_OVERHEAD_BYTES + kept + this.#reader.keptBytes,
    );
  }

  /** What passed whole may still be an error, or a stream that ends too early where the relay could not read it. */
  #outcome(relayed: Outcome): Outcome {
    if (relayed !== "finished") return relayed;
    if (this.#exception !== null) return "error";
    return this.#reader.isCut ? "upstream_cut" : "finished";
  }

  #completion(
    outcome: Outcome,
    { status, endedAtMs }: { status: number | undefined; endedAtMs: number },
  ): EndedCompletion {
    const { trace, apiKey } = this.#options;
    const { basis, usage } = this.#usage(outcome);
    const model = this.#reader.model ?? this.#request.facts.model ?? "unknown";
    return {
      callId: this.callId,
      ...trace,
      apiKey,
      startedAtMs: this.#startedAtMs,
      endedAtMs,
      readInputs: this.#inputsReader(),
      output: this.#reader.output(),
      attributes: { sumtree: this.#marks(outcome, basis, status) },
      summary: { usage: usage === undefined ? {} : { [model]: this.#entry(usage) } },
      exception: this.#exception ?? exceptionOf(outcome),
    };
  }

  /** The provider's usage, with the response's provider and tier. */
  #entry(usage: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const { provider } = this.#options;
    const tier = usage["service_tier"] ?? this.#reader.serviceTier;
    return {
      ...usage,
      ...(tier === undefined ? {} : { service_tier: tier }),
      ...(provider === undefined ? {} : { provider }),
      requests: 1,
    };
  }

  #elapsedMs(): number {
    return Math.round(steadyClock.now() - this.#began);
  }

  #marks(outcome: Outcome, usage: CompletionMarks["usage"], status: number | undefined): CompletionMarks {
    return {
      source: "gateway",
      stream: this.#streamed || this.#request.facts.stream,
      outcome,
      usage,
      upstream: this.#options.upstream,
      status: status ?? null,
      first_byte_ms: this.#firstByteMs,
      request_id: this.#options.requestId,
    };
  }

  /** A rejected or unsent request used nothing. Otherwise: the provider's count, or an estimate. */
  #usage(outcome: Outcome): {
    basis: CompletionMarks["usage"];
    usage: Readonly<Record<string, unknown>> | undefined;
  } {
    if (!this.#sent) return { basis: "none", usage: undefined };
    const { promptBytes: textBytes, bytes } = this.#request.facts;
    const promptBytes = textBytes ?? bytes;
    const isComplete = (outcome === "finished" || outcome === "error") && !this.#reader.isCut;
    const counted = this.#reader.usage({ isComplete, promptBytes });
    if (counted.basis !== "none") return counted;
    // only the size of an unreadable response is known
    const isRead = this.#reader.hasChoices || this.#isRefusal;
    const said = isRead ? this.#reader.textBytes : (this.#copy?.bytes ?? 0);
    if (outcome === "error" && said === 0) return { basis: "none", usage: undefined };
    const prompt = estimateTokens(promptBytes);
    const completion = estimateTokens(said);
    return {
      basis: "estimated",
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    };
  }

  /** It holds the request for as long as it is held, and nothing else. */
  #inputsReader(): () => unknown {
    const request = this.#request;
    const { hasInputs, model } = request.facts;
    return hasInputs && this.#options.keepContent ? () => request.inputs() : () => ({ model });
  }
}

function exceptionOf(outcome: Outcome): string | null {
  switch (outcome) {
    case "finished":
      return null;
    case "aborted":
      return "The client left before the completion was complete.";
    case "client_stalled":
      return "The client stopped reading the completion.";
    case "upstream_cut":
      return "The upstream broke off the completion.";
    case "error":
      return "The completion failed.";
    default:
      return assertNever(outcome);
  }
}

const MAX_MESSAGE_LENGTH = 2000;
