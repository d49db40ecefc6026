import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { ResponsesReader } from "../apis/responses-reader.ts";
import type { CompletionAttributes, EndedCompletion } from "../recording/recorded-completion.ts";
import type { Recorder } from "../recording/recorder.ts";
import { ResponseTap } from "../recording/response-tap.ts";
import { estimatedUsage, usageEntries } from "../recording/usage-entries.ts";
import { upstreamRequestIdOf } from "../relay/headers.ts";
import type { Outcome, RelayObserver } from "../relay/relay.ts";
import { RESPONSE_EVENT } from "../stream/capture-rules.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import type { RecordedResponse } from "./known-responses.ts";
import { idsOfForeign } from "./response-id.ts";

export interface SightingOptions {
  readonly id: string;
  /** Undefined: unknown to this process, or not recorded. */
  readonly known: RecordedResponse | undefined;
  /** Project of the call, else of the request. */
  readonly project: Project;
  readonly apiKey: string;
  readonly requestId: string;
  readonly upstream: string;
  readonly provider: string | undefined;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly captureContent: boolean;
}

const RECORD_BYTES = 2048;

/** Observes a response retrieved by id. Records the first observation of its end only. */
export class ResponseSighting implements RelayObserver {
  readonly #options: SightingOptions;
  readonly #reader: ResponsesReader;
  #tap: ResponseTap | undefined;
  #encoding: string | undefined;
  #status = 0;
  #isStream = false;
  #upstreamRequestId: string | undefined;

  constructor(options: SightingOptions) {
    this.#options = options;
    this.#reader = new ResponsesReader({ capturesText: options.captureContent });
  }

  onSend(): void {}

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#encoding = headers["content-encoding"];
    this.#upstreamRequestId = upstreamRequestIdOf(headers);
  }

  onEvent(event: StreamEvent): void {
    this.#isStream = true;
    this.#reader.read(event);
  }

  onChunk(chunk: Buffer): void {
    this.#tap ??= new ResponseTap(this.#encoding, RESPONSE_EVENT, (event) => this.#reader.read(event));
    this.#tap.push(chunk);
  }

  onError(): void {}

  onOutcome(): Promise<void> | undefined {
    const record = (): void => this.#record();
    const recorded = this.#tap?.finish()?.then(record);
    if (recorded === undefined) record();
    else this.#options.recorder.expect(recorded);
    return recorded;
  }

  #record(): void {
    const { known, recorder, project, id } = this.#options;
    if (this.#status !== 200 || !this.#reader.hasEnded || known?.isOver === true) return;
    if (this.#reader.id !== id) return;
    if (known !== undefined) known.isOver = true;
    recorder.record(project, this.#completion(), RECORD_BYTES + this.#reader.capturedBytes);
  }

  #completion(): EndedCompletion {
    const { id, known, project, upstream, provider, apiKey, clock } = this.#options;
    const prompt = known?.promptBytes ?? 0;
    const used = this.#reader.usage({ isComplete: true, promptBytes: prompt });
    const counted = used.basis === "none" ? estimatedUsage(used, prompt, this.#reader.textBytes) : used;
    const { createdAtMs } = this.#reader;
    const foreign = idsOfForeign(project, upstream, id);
    const call = known ?? {
      ...foreign,
      parentId: null,
      apiKey,
      startedAtMs: createdAtMs ?? clock.now(),
    };
    const basis = counted.basis === "nothing" ? "none" : counted.basis;
    return {
      callId: call.callId,
      recordId: `${call.callId}/end`,
      traceId: call.traceId,
      parentId: call.parentId,
      apiKey: call.apiKey,
      opName: "openai.responses.create",
      threadId: undefined,
      userId: undefined,
      startedAtMs: call.startedAtMs,
      endedAtMs: Math.max(clock.now(), call.startedAtMs),
      readInputs: () => ({ model: this.#reader.model }),
      output: this.#reader.output(),
      attributes: { sumtree: this.#attributes(basis) },
      summary: {
        usage: usageEntries(counted, {
          model: this.#reader.model ?? "unknown",
          provider,
          tier: this.#reader.serviceTier,
        }),
      },
      exception: this.#reader.failure ?? null,
      response: { id, upstream, sighting: known === undefined ? "unknown" : "known" },
    };
  }

  #attributes(usage: CompletionAttributes["usage"]): CompletionAttributes {
    const { known, upstream, requestId } = this.#options;
    const first = known?.marks;
    return {
      source: "gateway",
      stream: this.#isStream,
      upstream,
      request_id: requestId,
      first_byte_ms: null,
      ...(this.#upstreamRequestId === undefined ? {} : { upstream_request_id: this.#upstreamRequestId }),
      ...first,
      status: this.#status,
      outcome: outcomeOf(this.#reader),
      usage,
    };
  }
}

function outcomeOf({ isCancelled, failure }: ResponsesReader): Outcome {
  if (isCancelled) return "aborted";
  return failure === undefined ? "finished" : "error";
}
