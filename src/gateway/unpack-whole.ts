import zlib from "node:zlib";

type Unpack = (packed: Buffer, options: { maxOutputLength: number }) => Buffer;

const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ["gzip", zlib.gunzipSync],
  ["x-gzip", zlib.gunzipSync],
  [
    "deflate",
    (packed, options) => (isZlib(packed) ? zlib.inflateSync : zlib.inflateRawSync)(packed, options),
  ],
  ["br", zlib.brotliDecompressSync],
  // not in Node before 22.15
  ...("zstdDecompressSync" in zlib ? ([["zstd", zlib.zstdDecompressSync]] as const) : []),
]);

/** A compressed body, plain; undefined if it cannot be read, or is larger than `maxBytes`. */
export function unpackWhole(
  encodings: readonly string[],
  packed: Buffer,
  maxBytes: number,
): Buffer | undefined {
  let body = packed;
  for (const encoding of encodings.toReversed()) {
    const unpack = unpackers.get(encoding);
    if (unpack === undefined) return undefined;
    try {
      body = unpack(body, { maxOutputLength: maxBytes });
    } catch {
      return undefined;
    }
  }
  return body;
}

/** Some servers send raw deflate, without the zlib header that the name implies. */
function isZlib(packed: Buffer): boolean {
  return ((packed[0] ?? 0) & 0x0f) === 8;
}
