import type { RequestPayload } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { JsonSize } from "../../shared/json-size.ts";

/** Bodies up to this size are not counted. */
const UNCOUNTED_BYTES = 16 * 1024;
/** JSON values allowed in any compressed body. */
const FREE_VALUES = 20_000;
/** Further values per byte sent: parsing a body costs no more than sending it. */
const VALUES_PER_BYTE = 16;

export interface ValueCounter {
  /** Errors: payload_too_large. */
  add(chunk: Buffer): void;
  /** Values so far; 0 for an uncounted body. */
  count(): number;
}

/** Counts the values and keys of a JSON body as it arrives. `most`: maximum by bytes received. */
export function valueCounter(
  payload: RequestPayload,
  { isCompressed, most }: { readonly isCompressed: boolean; readonly most: (bytes: number) => number },
): ValueCounter {
  const size = new JsonSize();
  let uncounted: Buffer[] = [];
  let bytes = 0;
  const add = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (!isCompressed && bytes <= Math.min(UNCOUNTED_BYTES, most(0))) {
      uncounted.push(chunk);
      return;
    }
    for (const earlier of uncounted) size.add(earlier);
    uncounted = [];
    size.add(chunk);
    if (size.count > most(bytes)) throw tooMany(most(bytes));
    if (isCompressed && size.count > FREE_VALUES + VALUES_PER_BYTE * (payload.receivedEncodedLength ?? 0))
      throw tooManyCompressed();
  };
  return { add, count: () => size.count };
}

function tooMany(max: number): AppError {
  return new AppError(
    "payload_too_large",
    `A JSON body may have at most ${max} values and keys (set by the size of the body and its limit); a key with an escape counts as 16. Send it in parts.`,
  );
}

function tooManyCompressed(): AppError {
  return new AppError(
    "payload_too_large",
    `A compressed JSON body may have at most ${FREE_VALUES} values and keys, and ${VALUES_PER_BYTE} more for each byte sent. Send it in parts, or with less compression.`,
  );
}
