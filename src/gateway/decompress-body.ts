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

/** Decompresses a body; `undefined` if it cannot be decompressed or exceeds `maxBytes`. */
export function decompressBody(
  encodings: readonly string[],
  compressed: Buffer,
  maxBytes: number,
): Buffer | undefined {
  let body = compressed;
  for (const encoding of encodings.toReversed()) {
    const decompress = decompressors.get(encoding);
    if (decompress === undefined) return undefined;
    try {
      body = decompress(body, { maxOutputLength: maxBytes });
    } catch {
      return undefined;
    }
  }
  return body;
}

/** True for a zlib header; some senders omit it and use raw deflate. */
export function isZlib(compressed: Buffer): boolean {
  return ((compressed[0] ?? 0) & 0x0f) === 8;
}
