import { AppError } from "../../shared/errors.ts";

/** Limit of items (spans, log records, metrics), scopes, resources and their attributes in one request, and of its data points. */
export const MAX_REQUEST_ITEMS = 200_000;

export function tooManyItems(): AppError {
  return new AppError(
    "payload_too_large",
    `A request may contain at most ${MAX_REQUEST_ITEMS} items, data points, scopes, resources and attributes of these. Send smaller batches.`,
  );
}
