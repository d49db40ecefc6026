import { AppError } from "../../shared/errors.ts";

/** Spans, scopes, resources and their attributes in one request. Collectors send about ten thousand. */
export const MAX_REQUEST_ITEMS = 200_000;

export function tooManyItems(): AppError {
  return new AppError(
    "payload_too_large",
    `One request holds at most ${MAX_REQUEST_ITEMS} spans, scopes, resources and attributes of these. Send smaller batches.`,
  );
}
