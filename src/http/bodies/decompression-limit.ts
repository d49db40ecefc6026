import { AppError } from "../../shared/errors.ts";

/** Decompressed bytes allowed for any compressed body. */
const FREE_BYTES = 8 * 1024 * 1024;
/** Further decompressed bytes per byte sent; repetitive traces reach about fifty. */
const MAX_RATIO = 100;

/** Returns the decompressed bytes allowed for a number of compressed ones. */
export function maxDecompressedBytes(sentBytes: number): number {
  return FREE_BYTES + MAX_RATIO * sentBytes;
}

export function expandedTooMuch(): AppError {
  return new AppError(
    "payload_too_large",
    `A compressed body may expand to at most ${FREE_BYTES} bytes and ${MAX_RATIO} more for each byte sent. Send it with less compression.`,
  );
}
