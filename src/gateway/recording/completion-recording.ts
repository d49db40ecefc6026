import type { Budgets } from "../../budgets/budgets.ts";
import { AppError } from "../../shared/errors.ts";
import { gatewayId } from "../../calls/events/gateway-id.ts";
import { isUniqueId } from "../../calls/events/completion.ts";
import { steadyClock, type Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { countUsage, type CountedUsage } from "../apis/count-usage.ts";
import type { Draft, Json } from "../apis/draft.ts";
import type { ModelApi } from "../apis/model-api.ts";
import { foldEvent, readObject } from "../reading/event-reader.ts";
import { ResponseReader } from "../reading/response-reader.ts";
import { upstreamRequestIdOf, type Headers } from "../relay/headers.ts";
import type { Outcome, RelayObserver } from "../relay/relay.ts";
import type { BackgroundHolds, PricedHold } from "./background-holds.ts";
import type { Caller, TraceContext } from "./caller.ts";
import { LazyRequest, type ModelRequest } from "./model-request.ts";
import type { CompletionAttributes, EndedCompletion } from "./recorded-completion.ts";
import type { Recorder } from "./recorder.ts";
import { usedByModel } from "./used-by-model.ts";
import { callIdOf, type ResponseIndex, type ResponseMaker } from "./response-index.ts";

export interface RecordingOptions {
  readonly modelApi: ModelApi;
  readonly caller: Caller;
  readonly project: Project;
  readonly trace: TraceContext;
  readonly apiKey: string;
  readonly requestId: string;
  readonly upstream: string;
  readonly provider: string | undefined;
  readonly recorder: Recorder;
  readonly responses: ResponseIndex;
  readonly holds: BackgroundHolds;
  readonly budgets: Budgets;
  readonly clock: Clock;
  /** Stores messages; otherwise usage only. */
  readonly captureContent: boolean;
  readonly hidesUsage: boolean;
  readonly mayRepeat: boolean;
  /** Set if the request retrieves a response by its id. */
  readonly retrieved?: { readonly id: string; readonly maker: ResponseMaker | undefined };
}

const NOTHING: CountedUsage = { basis: "none", usage: undefined };
const RECORD_OVERHEAD_BYTES = 2048;
const MAX_MESSAGE_LENGTH = 2000;
const KILLED = "The gateway was killed before the completion ended.";

type RecordedOutcome = CompletionAttributes["outcome"];

const EXCEPTIONS: Readonly<Record<RecordedOutcome, string | null>> = {
  finished: null,
  pending: null,
  aborted: "The client disconnected before the completion ended.",
  client_stalled: "The client stopped reading the completion.",
  upstream_cut: "The upstream closed the connection before the completion ended.",
  error: "The completion failed.",
};

/** Observes one completion and records it when it ends, whatever the outcome. */
export class CompletionRecording implements RelayObserver {
  /** Name of its records, and id of its call unless it is derived from that of the response. */
  readonly callId = gatewayId();
  readonly startedAtMs: number;
  readonly request: LazyRequest;
  readonly #options: RecordingOptions;
  readonly #began = steadyClock.now();
  #reader: ResponseReader;
  #isSent = false;
  #hasEnded = false;
  #isPending = false;
  #records = 0;
  #recordedUsage: Draft["usage"];
  #firstByteMs: number | null = null;
  #upstreamRequestId: string | undefined;
  #status: number | undefined;
  #exception: string | null = null;
  #hold: PricedHold | undefined;

  constructor(options: RecordingOptions, readRequest: () => ModelRequest) {
    this.#options = options;
    this.startedAtMs = options.clock.now();
    this.request = new LazyRequest(options.modelApi.path, readRequest);
    this.#reader = this.#newReader({});
  }

  get #draft(): Draft {
    return this.#reader.draft;
  }

  get trace(): TraceContext {
    return this.#options.trace;
  }

  get caller(): Caller {
    return this.#options.caller;
  }

  /** Resolves when what a killed process has left is recorded, and held. Errors: `StorageError`. */
  async recover(): Promise<void> {
    await this.#options.recorder.recover();
    await this.#options.holds.resume(this.startedAtMs);
  }

  /** Keeps a hold until the call is stored. Resolves when that is in the journal. Throws service_overloaded if it cannot be. */
  async hold(held: PricedHold): Promise<void> {
    this.#hold = held;
    if (await this.#start()) return;
    this.release();
    const wait = { retryAfterSeconds: 5 };
    throw new AppError("service_overloaded", "The journal of completions cannot be written.", wait);
  }

  /** Ends the hold of a request that was not sent. */
  release(): void {
    if (this.#records > 0 || this.#hold === undefined) return;
    this.#hold.hold.release();
    this.#options.recorder.cancel(this.callId);
  }

  onSend(): void {
    this.#isSent = true;
    if (this.#hold === undefined) setImmediate(() => void this.#start());
  }

  onHead(status: number, headers: Headers): ResponseReader {
    this.#status = status;
    this.#firstByteMs = this.#elapsedMs();
    this.#upstreamRequestId = upstreamRequestIdOf(headers);
    if (status >= 300 && status < 400) this.#exception = `The upstream redirected the request (${status}).`;
    this.#reader = this.#newReader(headers);
    return this.#reader;
  }

  onError(text: string): void {
    const body = readObject(text);
    if (body !== undefined) foldEvent(this.#options.modelApi, this.#draft, body, true);
    this.#exception ??= this.#draft.failure ?? text.slice(0, MAX_MESSAGE_LENGTH);
  }

  /** Records a response that runs in the background as soon as its id is known, because it may end in another request. */
  onData(): Promise<void> | undefined {
    const { response, id, hasEnded } = this.#draft;
    if (response?.isBackground !== true || id === undefined || hasEnded) return undefined;
    if (this.#isPending || this.#options.retrieved !== undefined) return undefined;
    this.#isPending = true;
    return this.#write(this.#completion("pending"));
  }

  async onOutcome(relayed: Outcome, status: number | undefined): Promise<void> {
    // nothing has followed the last event
    if (this.#hasEnded && this.#draft.usage === this.#recordedUsage) return;
    this.#hasEnded = true;
    this.#status = status;
    await this.onData();
    const { retrieved } = this.#options;
    // another request may see the end
    if (this.#isPending && !this.#draft.hasEnded) return;
    if (retrieved !== undefined && !this.#endsRetrieved(retrieved.id)) return;
    this.#options.modelApi.finish?.(this.#draft);
    this.#recordedUsage = this.#draft.usage;
    await this.#write(this.#completion(this.#outcome(relayed)));
  }

  #newReader(headers: Headers): ResponseReader {
    const { modelApi: api, captureContent: keepsContent, hidesUsage } = this.#options;
    return new ResponseReader({ api, isCopied: true, keepsContent, hidesUsage }, headers);
  }

  /** Journals the known facts, in case the process is killed before the end. Resolves to false if that fails. */
  async #start(): Promise<boolean> {
    if (this.#hasEnded || this.#options.retrieved !== undefined) return true;
    return this.#options.recorder.start(this.callId, this.#options.project, () => ({
      ...this.#completion("aborted", true),
      exception: KILLED,
    }));
  }

  /** True for the end of the response that was asked for, unless its first call had it. */
  #endsRetrieved(id: string): boolean {
    const { hasEnded, response, id: named } = this.#draft;
    if (this.#status !== 200 || !hasEnded || named !== id) return false;
    return response?.isBackground === true || this.#options.retrieved?.maker === undefined;
  }

  #write(completion: EndedCompletion): Promise<void> {
    const name = this.#records === 0 ? this.callId : `${this.callId}/${this.#records}`;
    this.#records++;
    const { bytes, hasInputs } = this.request.facts;
    const kept = hasInputs && this.#options.captureContent ? bytes : 0;
    const size = RECORD_OVERHEAD_BYTES + kept + this.#draft.contentBytes;
    const onOver = this.#endHold(completion);
    return this.#options.recorder.record(name, this.#options.project, completion, { bytes: size, onOver });
  }

  /** Replaces the hold by what the completion used; returns what to call when it is stored. */
  #endHold(completion: EndedCompletion): (() => void) | undefined {
    const { holds, budgets } = this.#options;
    if (completion.endedAtMs === null) {
      if (this.#hold !== undefined) holds.keep(completion.callId, this.#hold);
      return undefined;
    }
    const held = holds.take(completion.callId) ?? this.#hold;
    const { project } = this.#options;
    if (held === undefined) return () => budgets.stored(project, completion.traceId, undefined);
    const { hold } = held;
    const used = usedByModel(completion, held.book);
    hold.end(used);
    return () => {
      hold.store();
      budgets.stored(project, completion.traceId, { hold, used });
    };
  }

  /** Corrects the relay's outcome: a fully relayed response may still be an error or an incomplete stream. */
  #outcome(relayed: Outcome): Outcome {
    if (relayed !== "finished") return relayed;
    if (this.#reader.isCut) return "upstream_cut";
    if (this.#draft.response?.status === "cancelled") return "aborted";
    return this.#exception !== null || this.#draft.failure !== undefined ? "error" : "finished";
  }

  /** `isSent`: the request is about to be sent. */
  #completion(outcome: RecordedOutcome, isSent = this.#isSent): EndedCompletion {
    const { trace, apiKey, provider, modelApi, caller, retrieved, responses, project, upstream } =
      this.#options;
    const draft = this.#draft;
    const response = this.#response();
    const promptBytes = this.#promptBytes();
    const isDerived = draft.response?.isBackground === true || retrieved !== undefined;
    const callId =
      response !== undefined && isDerived ? callIdOf({ project, upstream }, response.id) : this.callId;
    const isRepeated =
      response !== undefined &&
      retrieved === undefined &&
      responses.note(response.id, { project, upstream, callId, promptBytes }) !== callId &&
      isUniqueId(response.id);
    const counted: CountedUsage =
      outcome === "pending" || isRepeated || !isSent ? NOTHING : this.#usage(outcome);
    const model = draft.model ?? this.request.facts.model ?? "unknown";
    return {
      callId,
      traceId: retrieved === undefined ? trace.traceId : undefined,
      parentId: retrieved === undefined ? trace.parentId : null,
      apiKey,
      opName: modelApi.opName,
      threadId: caller.threadId,
      userId: this.request.facts.userId,
      startedAtMs: (retrieved && draft.response?.createdAtMs) ?? this.startedAtMs,
      endedAtMs: outcome === "pending" ? null : this.startedAtMs + this.#elapsedMs(),
      readInputs: this.#inputsReader(),
      output: this.#output(),
      attributes: { sumtree: this.#attributes(outcome, counted.basis) },
      summary: { usage: entriesOf(counted, draft, { model, provider }) },
      exception: this.#exception ?? draft.failure ?? EXCEPTIONS[outcome],
      response,
    };
  }

  #response(): EndedCompletion["response"] {
    const { upstream, retrieved, mayRepeat } = this.#options;
    const { id, response } = this.#draft;
    if (response === undefined || id === undefined) return undefined;
    if (retrieved === undefined) return { id, upstream, mayRepeat: mayRepeat && isUniqueId(id) };
    return { id, upstream, retrieved: retrieved.maker === undefined ? "unknown" : "known" };
  }

  #promptBytes(): number {
    const { promptBytes, bytes } = this.request.facts;
    return this.#options.retrieved?.maker?.promptBytes ?? promptBytes ?? bytes;
  }

  #elapsedMs(): number {
    return Math.round(steadyClock.now() - this.#began);
  }

  #attributes(outcome: RecordedOutcome, usage: CompletionAttributes["usage"]): CompletionAttributes {
    return {
      source: "gateway",
      stream: this.#reader.isStream || this.request.facts.stream,
      outcome,
      usage,
      upstream: this.#options.upstream,
      status: this.#status ?? null,
      first_byte_ms: this.#firstByteMs,
      request_id: this.#options.requestId,
      upstream_request_id: this.#upstreamRequestId,
      ...this.#options.caller.attributes,
    };
  }

  /** Returns the provider's count or an estimate. */
  #usage(outcome: Outcome): CountedUsage {
    const draft = this.#draft;
    const isRejected = (this.#status ?? 0) >= 300 || draft.failure !== undefined;
    return countUsage(draft, this.#options.modelApi, {
      isComplete: (outcome === "finished" || outcome === "error") && draft.hasEnded,
      promptBytes: this.#promptBytes(),
      // only the size of an unreadable response is known
      textBytes: this.#reader.isRead || isRejected ? draft.textBytes : this.#reader.bytes,
      maxOutputTokens: this.request.facts.maxOutput,
      isError: outcome === "error" || isRejected,
    });
  }

  #output(): Json | null {
    const { id, model, tier, output, keepsContent, isTruncated, usage, response, choices } = this.#draft;
    const isChat = choices !== undefined && Object.keys(output).length > 0;
    const all: Json = {
      id,
      model,
      service_tier: tier,
      status: response?.status,
      ...(keepsContent && output),
      ...(keepsContent && isChat && { usage }),
      ...(keepsContent && isTruncated && { truncated: true }),
    };
    return Object.values(all).some((value) => value !== undefined) ? all : null;
  }

  /** Returns a reader of the inputs that retains nothing but the request. */
  #inputsReader(): () => unknown {
    const request = this.request;
    const { hasInputs, model } = request.facts;
    if (this.#options.retrieved !== undefined) return () => ({ model: this.#draft.model });
    return hasInputs && this.#options.captureContent ? () => request.inputs() : () => ({ model });
  }
}

/** Returns the usage by model, with provider and service tier. The request counts for the model that responded. */
function entriesOf(
  { usage }: CountedUsage,
  { others, tier }: Draft,
  { model, provider }: { model: string; provider: string | undefined },
): EndedCompletion["summary"]["usage"] {
  if (usage === undefined) return {};
  const beside = Object.entries(others).map(([name, one]) => [name, { ...one, provider }]);
  const own = { ...usage, service_tier: usage["service_tier"] ?? tier, provider, requests: 1 };
  return { ...Object.fromEntries(beside), [model]: own };
}
