import type { IncomingHttpHeaders } from "node:http";
import { assertNever } from "../../shared/assert-never.ts";
import { steadyClock, type Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { gatewayId } from "../../calls/events/gateway-id.ts";
import { ResponseTap } from "./response-tap.ts";
import { LazyRequest } from "./lazy-request.ts";
import type { ResponseReader, ModelApi, ObservedResponse } from "../apis/model-api.ts";
import type { KnownResponses, RecordedResponse } from "../responses/known-responses.ts";
import type { Caller } from "./caller.ts";
import type { ModelRequest } from "./model-request.ts";
import type { CompletionAttributes, EndedCompletion } from "./recorded-completion.ts";
import type { Recorder } from "./recorder.ts";
import { upstreamRequestIdOf } from "../relay/headers.ts";
import type { Outcome, RelayObserver } from "../relay/relay.ts";
import { readBody, type StreamEvent } from "../stream/stream-event.ts";
import type { TraceContext } from "./trace-context.ts";
import { estimatedUsage, usageEntries, type Counted } from "./usage-entries.ts";

export interface RecordingOptions {
  readonly modelApi: ModelApi;
  readonly caller: Caller;
  readonly project: Project;
  readonly trace: TraceContext;
  /** Id of the API key. */
  readonly apiKey: string;
  readonly requestId: string;
  readonly upstream: string;
  /** Provider implied by the upstream's URL. */
  readonly provider: string | undefined;
  readonly recorder: Recorder;
  readonly responses: KnownResponses;
  readonly clock: Clock;
  /** Stores messages; otherwise usage only. */
  readonly captureContent: boolean;
}

const RECORD_OVERHEAD_BYTES = 2048;
const KILLED = "The gateway was killed before the completion ended.";

/** Observes one completion and records it when it ends, whatever the outcome. */
export class CompletionRecording implements RelayObserver {
  readonly callId = gatewayId();
  readonly #options: RecordingOptions;
  readonly #startedAtMs: number;
  readonly #began = steadyClock.now();
  readonly #reader: ResponseReader;
  #request = new LazyRequest();
  #sent = false;
  #started = false;
  #ended = false;
  #firstByteMs: number | null = null;
  #streamed = false;
  #encoding: string | undefined;
  #tap: ResponseTap | undefined;
  /** The response is a redirect or an error, whatever its status. */
  #isRejected = false;
  #upstreamRequestId: string | undefined;
  #status: number | undefined;
  #exception: string | null = null;
  /** Response created by this request, for later requests by id. */
  #made: RecordedResponse | undefined;
  /** Already recorded as pending. */
  #isPending = false;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.#reader = options.modelApi.openReader({ capturesText: options.captureContent });
  }

  /** Sets the lazily parsed request: parsing must not delay the completion. */
  setRequest(read: () => ModelRequest): void {
    this.#request = new LazyRequest(read);
  }

  onSend(): void {
    this.#sent = true;
    setImmediate(() => this.#start());
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#start();
    this.#status = status;
    this.#firstByteMs = this.#elapsedMs();
    this.#encoding = headers["content-encoding"];
    this.#upstreamRequestId = upstreamRequestIdOf(headers);
    this.#isRejected = status >= 300;
    if (status >= 300 && status < 400) this.#exception = `The upstream redirected the request (${status}).`;
  }

  onEvent(event: StreamEvent): void {
    this.#streamed = true;
    this.#read(event);
  }

  onChunk(chunk: Buffer): void {
    this.#tap ??= new ResponseTap(this.#encoding, this.#options.modelApi.rules, (event) => this.#read(event));
    this.#tap.push(chunk);
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
    const recorded = this.#tap?.finish()?.then(record);
    if (recorded === undefined) record();
    else this.#options.recorder.expect(recorded);
    return recorded;
  }

  /** Journals the known facts, in case the process is killed before the end. */
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
    if (event.kind === "error" || event.kind === "flat_error") this.#isRejected = true;
    this.#exception ??= event.error ?? null;
    if (this.#reader.response !== undefined) this.#trackResponse(this.#reader.response);
  }

  /** Records a background response as soon as its id is known, because it may end in another request. */
  #trackResponse({ id, isPending }: ObservedResponse): void {
    const { project, upstream, trace, apiKey, responses } = this.#options;
    if (this.#made === undefined) {
      const facts = { callId: this.callId, ...trace, project, apiKey, startedAtMs: this.#startedAtMs };
      const marks = this.#attributes("pending", "none", undefined);
      const promptBytes = isPending ? this.#request.facts.promptBytes : undefined;
      this.#made = { ...facts, marks, promptBytes, isOver: !isPending };
      responses.put(id, { upstream, recorded: this.#made });
    }
    if (!isPending || this.#isPending) return;
    this.#isPending = true;
    this.#write(this.#completion("pending", { status: this.#status, endedAtMs: null }));
  }

  #record(relayed: Outcome, facts: { status: number | undefined; endedAtMs: number }): void {
    // the request that observes the end records it
    if (this.#isPending && (this.#reader.response?.isPending === true || this.#made?.isOver === true)) return;
    const completion = this.#completion(this.#outcome(relayed), facts);
    if (this.#made !== undefined) this.#made.isOver = true;
    this.#write(this.#isPending ? { ...completion, recordId: `${this.callId}/end` } : completion);
  }

  #write(recorded: EndedCompletion): void {
    const { bytes, hasInputs } = this.#request.facts;
    const kept = hasInputs && this.#options.captureContent ? bytes : 0;
    this.#options.recorder.record(
      this.#options.project,
      recorded,
      RECORD_OVERHEAD_BYTES + kept + this.#reader.capturedBytes,
    );
  }

  /** Corrects the relay's outcome: a fully relayed response may still be an error or an incomplete stream. */
  #outcome(relayed: Outcome): Outcome {
    if (relayed !== "finished") return relayed;
    if (this.#reader.isCancelled === true) return "aborted";
    if (this.#exception !== null || this.#reader.failure !== undefined) return "error";
    return this.#reader.isIncomplete ? "upstream_cut" : "finished";
  }

  #completion(
    outcome: CompletionAttributes["outcome"],
    { status, endedAtMs }: { status: number | undefined; endedAtMs: number | null },
  ): EndedCompletion {
    const { trace, apiKey, upstream, provider } = this.#options;
    const counted: Counted = outcome === "pending" ? { basis: "nothing" } : this.#usage(outcome);
    const { response, serviceTier: tier } = this.#reader;
    const basis = counted.basis === "nothing" ? "none" : counted.basis;
    const model = this.#reader.model ?? this.#request.facts.model ?? "unknown";
    return {
      callId: this.callId,
      ...trace,
      apiKey,
      opName: this.#options.modelApi.opName,
      threadId: this.#options.caller.threadId,
      userId: this.#request.facts.userId,
      startedAtMs: this.#startedAtMs,
      endedAtMs,
      readInputs: this.#inputsReader(),
      output: this.#reader.output(),
      attributes: { sumtree: this.#attributes(outcome, basis, status) },
      summary: { usage: usageEntries(counted, { model, provider, tier }) },
      exception: this.#exception ?? this.#reader.failure ?? exceptionOf(outcome),
      ...(response === undefined ? {} : { response: { id: response.id, upstream } }),
    };
  }

  #elapsedMs(): number {
    return Math.round(steadyClock.now() - this.#began);
  }

  #attributes(
    outcome: CompletionAttributes["outcome"],
    usage: CompletionAttributes["usage"],
    status: number | undefined,
  ): CompletionAttributes {
    return {
      source: "gateway",
      stream: this.#streamed || this.#request.facts.stream,
      outcome,
      usage,
      upstream: this.#options.upstream,
      status: status ?? null,
      first_byte_ms: this.#firstByteMs,
      request_id: this.#options.requestId,
      ...(this.#upstreamRequestId === undefined ? {} : { upstream_request_id: this.#upstreamRequestId }),
      ...this.#options.caller.attributes,
    };
  }

  /** Returns the provider's count or an estimate; rejected and unsent requests used nothing. */
  #usage(outcome: Outcome): Counted {
    if (!this.#sent) return { basis: "nothing" };
    const { promptBytes: textBytes, bytes } = this.#request.facts;
    const promptBytes = textBytes ?? bytes;
    const isComplete = (outcome === "finished" || outcome === "error") && !this.#reader.isIncomplete;
    const counted = this.#reader.usage({ isComplete, promptBytes });
    if (counted.basis !== "none") return counted;
    // only the size of an unreadable response is known
    const isRead = this.#reader.hasResponse || this.#isRejected;
    const receivedBytes = isRead ? this.#reader.textBytes : (this.#tap?.bytes ?? 0);
    const isError = outcome === "error" || (this.#status ?? 0) >= 300;
    if (isError && receivedBytes === 0 && counted.usage === undefined) return { basis: "nothing" };
    return estimatedUsage(counted, promptBytes, receivedBytes);
  }

  /** Returns a reader of the inputs that retains nothing but the request. */
  #inputsReader(): () => unknown {
    const request = this.#request;
    const { hasInputs, model } = request.facts;
    return hasInputs && this.#options.captureContent ? () => request.inputs() : () => ({ model });
  }
}

function exceptionOf(outcome: CompletionAttributes["outcome"]): string | null {
  switch (outcome) {
    case "finished":
    case "pending":
      return null;
    case "aborted":
      return "The client disconnected before the completion ended.";
    case "client_stalled":
      return "The client stopped reading the completion.";
    case "upstream_cut":
      return "The upstream closed the connection before the completion ended.";
    case "error":
      return "The completion failed.";
    default:
      return assertNever(outcome);
  }
}

const MAX_MESSAGE_LENGTH = 2000;
