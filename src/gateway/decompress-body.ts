import zlib from "node:zlib";

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
export function encodingIn(header: string | readonly string[] | undefined): string | undefined {
  const encoding = String(header ?? "")
    .trim()
    .toLowerCase();
  return encoding === "" || encoding === "identity" ? undefined : encoding;
}

/**
 * Decompresses a body with the given `content-encoding`; `undefined` if that is unknown or several, if the body is not of it
 * or exceeds `maxBytes`.
 */
export function decompressBody(
  contentEncoding: string | readonly string[] | undefined,
  body: Buffer,
  maxBytes: number,
): Buffer | undefined {
  const encoding = encodingIn(contentEncoding);
  if (encoding === undefined) return body;
  try {
    return decompressors.get(encoding)?.(body, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}

/** True for a zlib header; some senders omit it and use raw deflate. */
export function isZlib(compressed: Buffer): boolean {
  return ((compressed[0] ?? 0) & 0x0f) === 8;
}
