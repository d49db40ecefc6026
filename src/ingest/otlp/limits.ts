import { AppError } from "../../shared/errors.ts";

/** Limit of spans, scopes, resources and their attributes in one request. Collectors send about 10,000. */
export const MAX_REQUEST_ITEMS = 200_000;

export function tooManyItems(): AppError {
  return new AppError(
    "payload_too_large",
    `A request may contain at most ${MAX_REQUEST_ITEMS} spans, scopes, resources and attributes of these. Send smaller batches.`,
  );
}
