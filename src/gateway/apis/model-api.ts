import type { CountedUsage } from "../recording/reported-usage.ts";
import type { StreamTransform } from "../stream/chat-stream.ts";
import type { CaptureRule } from "../stream/capture-rules.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import type { RouteText } from "../../http/openapi/route-text.ts";

type Json = Readonly<Record<string, unknown>>;

/** Provider format of an endpoint's errors and model list. */
export type Api = "openai" | "anthropic";

/** Metered API: endpoint path, response reader and stream completeness rules. */
export interface ModelApi {
  /** Without `/v1`. */
  readonly path: string;
  readonly api: Api;
  /** Operation name in the provider's SDK. */
  readonly opName: string;
  /** Members to capture of a response or event too large to parse at once. */
  readonly rules: CaptureRule;
  /** OpenAPI schema; `undefined` for form or binary bodies. */
  readonly schema: RouteText | undefined;
  /** Streams report usage only with `include_usage`. */
  readonly asksForUsage: boolean;
  /** Converts upstream errors to a format SDKs read; otherwise they pass unchanged. */
  readonly wrapsErrors: boolean;
  openReader(options: ReaderOptions): ResponseReader;
  openStream(options: StreamOptions): StreamTransform;
}

export interface ReaderOptions {
  readonly capturesText: boolean;
}

export interface StreamOptions {
  readonly hideUsage: boolean;
  readonly onEvent: ((event: StreamEvent) => void) | undefined;
}

/** Usage of a response. `none`: not reported, so it is estimated. `nothing`: zero, or never reported by this API. */
export type ResponseUsage =
  | CountedUsage
  | {
      readonly basis: "exact" | "partial";
      readonly usage: Json;
      /** Usage of other participating models, by model. */
      readonly others: Readonly<Record<string, Json>>;
    }
  | { readonly basis: "nothing" };

/** Relay result and prompt size of a response. */
export interface RelayOutcome {
  readonly isComplete: boolean;
  /** Prompt size in bytes of text. */
  readonly promptBytes: number;
}

export interface ObservedResponse {
  readonly id: string;
  /** Still running in the background. */
  readonly isPending: boolean;
}

/** Reader of one response, from stream events or from one body. */
export interface ResponseReader {
  /** Model named by the response. */
  readonly model: string | undefined;
  readonly serviceTier: string | undefined;
  /** A response of this API has begun. */
  readonly hasResponse: boolean;
  /** Generated text in bytes. */
  readonly textBytes: number;
  /** Approximate output size in bytes of JSON. */
  readonly capturedBytes: number;
  /** The stream ended without its final event. */
  readonly isIncomplete: boolean;
  /** Set for the Responses API. */
  readonly response?: ObservedResponse | undefined;
  /** The response was cancelled. */
  readonly isCancelled?: boolean;
  /** Failure message from the response itself. */
  readonly failure: string | undefined;
  read(event: StreamEvent): void;
  usage(outcome: RelayOutcome): ResponseUsage;
  output(): Json | null;
}
