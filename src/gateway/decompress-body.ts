import zlib from "node:zlib";
import { AppError } from "../shared/errors.ts";
import { tooLarge } from "./relay/upload.ts";

type ContentEncoding = string | readonly string[] | undefined;
type Decompress = (compressed: Buffer, options: { maxOutputLength: number }) => Buffer;

const decompressors: ReadonlyMap<string, Decompress> = new Map<string, Decompress>([
  ["gzip", zlib.gunzipSync],
  ["x-gzip", zlib.gunzipSync],
  [
    "deflate",
    (compressed, options) =>
      (isZlib(compressed) ? zlib.inflateSync : zlib.inflateRawSync)(compressed, options),
  ],
  ["br", zlib.brotliDecompressSync],
  // not in Node before 22.15
  ...("zstdDecompressSync" in zlib ? ([["zstd", zlib.zstdDecompressSync]] as const) : []),
]);

/** Returns the content encoding that a header names; `undefined`: none. */
export function encodingIn(header: ContentEncoding): string | undefined {
  const encoding = String(header ?? "")
    .trim()
    .toLowerCase();
  return encoding === "" || encoding === "identity" ? undefined : encoding;
}

/**
 * Decompresses a body with the given `content-encoding`. Throws unsupported_media_type if that is unknown or several,
 * payload_too_large, bad_request if the body is not of it.
 */
export function decompress(contentEncoding: ContentEncoding, body: Buffer, maxBytes: number): Buffer {
  const encoding = encodingIn(contentEncoding);
  if (encoding === undefined) return body;
  const decompressor = decompressors.get(encoding);
  if (decompressor === undefined)
    throw new AppError("unsupported_media_type", `Unknown content encoding: ${encoding}.`);
  try {
    return decompressor(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw new AppError("bad_request", "The body cannot be decompressed.", { cause: error });
  }
}

/** Decompresses a body; `undefined` if that is not possible. */
export function decompressBody(...body: Parameters<typeof decompress>): Buffer | undefined {
  try {
    return decompress(...body);
  } catch {
    return undefined;
  }
}

/** True for a zlib header; some senders omit it and use raw deflate. */
export function isZlib(compressed: Buffer): boolean {
  return ((compressed[0] ?? 0) & 0x0f) === 8;
}
