import type { RouteText } from "../../http/openapi/route-text.ts";
import type { ErrorObject } from "../errors.ts";
import type { Draft, Json } from "./draft.ts";
import type { Api } from "./endpoint-paths.ts";

/** A metered endpoint and how its responses are read. */
export interface ModelApi {
  /** Without `/v1`; `*` stands for the model. */
  readonly path: string;
  readonly opName: string;
  readonly api: Api;
  /** OpenAPI text; `undefined` for form and binary bodies. */
  readonly schema?: RouteText | undefined;
  /** Streams report usage only with `include_usage`. */
  readonly asksForUsage?: true;
  /** A response without reported usage has used nothing that could be estimated. */
  readonly isNeverEstimated?: boolean;
  /** Errors of upstreams are converted to a format SDKs read. */
  readonly wrapsErrors?: true;
  /** True for an event after which a cut stream has lost nothing. */
  isLast(event: Json): boolean;
  /** Returns the event that a broken stream ends with. */
  errorEvent(error: ErrorObject): Buffer;
  /** Adds an event of a stream, or the whole body, to the draft. */
  fold(draft: Draft, event: Json, isBody: boolean): void;
  /** Completes the output after the last event. */
  finish?(draft: Draft): void;
}
