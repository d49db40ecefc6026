import type { IncomingHttpHeaders } from "node:http";
import { steadyClock, type Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";
import { gatewayId } from "../../calls/events/gateway-id.ts";
import { upstreamRequestIdOf } from "../relay/headers.ts";
import type { Outcome, RelayObserver } from "../relay/relay.ts";
import type { Caller } from "./caller.ts";
import type { EndedCompletion } from "./recorded-completion.ts";
import type { Recorder } from "./recorder.ts";
import type { TraceContext } from "./trace-context.ts";

export interface UnmeteredOptions {
  readonly project: Project;
  readonly caller: Caller;
  readonly trace: TraceContext;
  readonly apiKey: string;
  readonly requestId: string;
  readonly upstream: string;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly method: string;
  /** Without query. */
  readonly path: string;
}

const RECORD_BYTES = 2048;
const MAX_PATH_LENGTH = 1024;

/** Records an unmetered request as a call without usage. */
export class UnmeteredRecording implements RelayObserver {
  readonly callId = gatewayId();
  readonly #options: UnmeteredOptions;
  readonly #startedAtMs: number;
  readonly #began = steadyClock.now();
  #firstByteMs: number | null = null;
  #upstreamRequestId: string | undefined;
  #error: string | null = null;

  constructor(options: UnmeteredOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
  }

  onSend(): void {}

  onHead(_status: number, headers: IncomingHttpHeaders): void {
    this.#firstByteMs = this.#elapsedMs();
    this.#upstreamRequestId = upstreamRequestIdOf(headers);
  }

  onEvent(): void {}

  onChunk(): void {}

  onError(text: string): void {
    this.#error ??= text.slice(0, MAX_PATH_LENGTH);
  }

  onOutcome(outcome: Outcome, status: number | undefined): undefined {
    const { recorder, project } = this.#options;
    recorder.record(project, this.#completion(outcome, status), RECORD_BYTES);
  }

  #completion(outcome: Outcome, status: number | undefined): EndedCompletion {
    const { trace, apiKey, caller, requestId, upstream, method, path } = this.#options;
    return {
      callId: this.callId,
      ...trace,
      apiKey,
      opName: "gateway.unmetered",
      threadId: caller.threadId,
      userId: undefined,
      startedAtMs: this.#startedAtMs,
      endedAtMs: this.#startedAtMs + this.#elapsedMs(),
      readInputs: () => ({ method, path: path.slice(0, MAX_PATH_LENGTH) }),
      output: null,
      attributes: {
        sumtree: {
          source: "gateway",
          stream: false,
          outcome,
          usage: "unmetered",
          upstream,
          status: status ?? null,
          first_byte_ms: this.#firstByteMs,
          request_id: requestId,
          ...(this.#upstreamRequestId === undefined ? {} : { upstream_request_id: this.#upstreamRequestId }),
          ...caller.attributes,
        },
      },
      summary: { usage: {} },
      exception: this.#error,
    };
  }

  #elapsedMs(): number {
    return Math.round(steadyClock.now() - this.#began);
  }
}
