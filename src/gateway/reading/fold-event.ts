import { isJsonObject, isTooDeep, parseOrUndefined } from "../../shared/json.ts";
import type { Draft, Json } from "../apis/draft.ts";
import { errorOfResponse } from "../apis/error-in-response.ts";
import type { ModelApi } from "../apis/model-api.ts";

/** Adds an event of a stream, or the whole body, and the error that it reports. */
export function foldEvent(api: ModelApi, draft: Draft, event: Json, isBody: boolean): void {
  const error = errorOfResponse(event);
  draft.failure ??= error;
  draft.hasFailed ||= error !== undefined;
  api.fold(draft, event, isBody);
  draft.hasEnded ||= draft.hasFailed;
}

/** Parses an event; `undefined` if it is no JSON object that can be read without limit of depth. */
export function readObject(json: string): Json | undefined {
  const value = parseOrUndefined(json);
  return isJsonObject(value) && !isTooDeep(value) ? value : undefined;
}
