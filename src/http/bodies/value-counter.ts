import type { RequestPayload } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { JsonSize } from "../../shared/json-size.ts";

/** Shorter bodies cannot have many. */
const UNCOUNTED_BYTES = 16 * 1024;
/** JSON values allowed in any compressed body. */
const FREE_VALUES = 20_000;
/** And further ones for each byte sent: work on a body is bounded by what it costs to send it. */
const VALUES_PER_BYTE = 16;

export interface ValueCounter {
  /** Errors: payload_too_large. */
  add(chunk: Buffer): void;
  /** So far; none of a short body. */
  count(): number;
}

/** Counts the values and keys of a JSON body as it comes. `most`: how many there may be in so many bytes. */
export function valueCounter(
  payload: RequestPayload,
  { isPacked, most }: { readonly isPacked: boolean; readonly most: (bytes: number) => number },
): ValueCounter {
  const size = new JsonSize();
  let uncounted: Buffer[] = [];
  let bytes = 0;
  const add = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (!isPacked && bytes <= Math.min(UNCOUNTED_BYTES, most(0))) {
      uncounted.push(chunk);
      return;
    }
    for (const earlier of uncounted) size.add(earlier);
    uncounted = [];
    size.add(chunk);
    if (size.count > most(bytes)) throw tooMany(most(bytes));
    if (isPacked && size.count > FREE_VALUES + VALUES_PER_BYTE * (payload.receivedEncodedLength ?? 0))
      throw tooManyPacked();
  };
  return { add, count: () => size.count };
}

function tooMany(max: number): AppError {
  return new AppError(
    "payload_too_large",
    `A JSON body may have at most ${max} values and keys (set by MAX_JSON_VALUES and the bytes of the body and its limit); a key with an escape counts as 16. Send it in parts.`,
  );
}

function tooManyPacked(): AppError {
  return new AppError(
    "payload_too_large",
    `A compressed JSON body may have at most ${FREE_VALUES} values and keys, and ${VALUES_PER_BYTE} more for each byte sent. Send it in parts, or with less compression.`,
  );
}
