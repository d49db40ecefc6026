import type { CountedUsage } from "../recording/reported-usage.ts";
import type { StreamTransform } from "../stream/chat-stream.ts";
import type { CaptureRule } from "../stream/capture-rules.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import type { RouteText } from "../../http/openapi/route-text.ts";

type Json = Readonly<Record<string, unknown>>;

/** How a door's errors look. */
export type Api = "openai" | "anthropic";

/** One API whose use is measured: where it is, how its answers are read, and what a stream of it needs to be whole. */
export interface ModelApi {
  /** Behind `/v1`. */
  readonly path: string;
  readonly api: Api;
  /** The one that the provider's SDK has for it. */
  readonly opName: string;
  /** What to keep of a response, or of an event, that is too large to be read in one piece. */
  readonly rules: CaptureRule;
  /** Where requests and responses are JSON, as the description of the interface has them. */
  readonly schema: RouteText | undefined;
  /** Streams report usage only if asked. */
  readonly asksForUsage: boolean;
  /** Upstream errors are given a form that SDKs can read; otherwise they pass unchanged. */
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

/** What a response used. `none`: it does not say. `nothing`: it says that it used nothing, or its kind never says. */
export type ResponseUsage =
  | CountedUsage
  | {
      readonly basis: "exact" | "partial";
      readonly usage: Json;
      /** Of other models that took part, by model. */
      readonly others: Readonly<Record<string, Json>>;
    }
  | { readonly basis: "nothing" };

/** How the answer has been relayed, and what is known of its request. */
export interface RelayOutcome {
  readonly isComplete: boolean;
  /** What the model read, as bytes of text. */
  readonly promptBytes: number;
}

export interface ObservedResponse {
  readonly id: string;
  /** It goes on in the background. */
  readonly isPending: boolean;
}

/** Reads one answer, from the events of a stream or in one piece. */
export interface ResponseReader {
  /** The model that answered, if the answer names it. */
  readonly model: string | undefined;
  readonly serviceTier: string | undefined;
  /** It has begun to be an answer of this API. */
  readonly hasResponse: boolean;
  /** Bytes of text that the model wrote. */
  readonly textBytes: number;
  /** About the length of the output as JSON. */
  readonly capturedBytes: number;
  /** A stream that has ended before its end. */
  readonly isIncomplete: boolean;
  /** The response of the Responses API that it is. */
  readonly response?: ObservedResponse | undefined;
  /** Somebody has cancelled it. */
  readonly isCancelled?: boolean;
  /** Why it failed, where the answer itself says so. */
  readonly failure: string | undefined;
  read(event: StreamEvent): void;
  usage(passed: RelayOutcome): ResponseUsage;
  output(): Json | null;
}
