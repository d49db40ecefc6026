import type { Transform } from "node:stream";
import zlib, { constants } from "node:zlib";
import { encodingIn, isZlib } from "../decompress-body.ts";

/** Limit of queued input in bytes: decompression must not delay the response. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Decompressor of a response copy. Malformed and truncated responses are decompressed as far as possible. */
export interface Decoder {
  write(chunk: Buffer): void;
  /** Resolves when all bytes have been emitted; `undefined` if they already were. */
  end(): Promise<void> | undefined;
}

const decompressors: ReadonlyMap<string, (first: Buffer) => Transform> = new Map([
  ["gzip", () => zlib.createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })],
  ["x-gzip", () => zlib.createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })],
  ["deflate", inflater],
  ["br", () => zlib.createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  // not in Node before 22.15
  ...("createZstdDecompress" in zlib
    ? ([["zstd", () => zlib.createZstdDecompress({ finishFlush: constants.ZSTD_e_flush })]] as const)
    : []),
]);

/** Opens zlib or, as some servers mean by `deflate`, data without its header. */
function inflater(first: Buffer): Transform {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  return isZlib(first) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
}

/** Opens a decoder that passes plain bytes to `onData`; `undefined` for an unknown encoding or several. */
export function openDecoder(
  contentEncoding: string | readonly string[] | undefined,
  onData: (plain: Buffer) => void,
): Decoder | undefined {
  const encoding = encodingIn(contentEncoding);
  if (encoding === undefined) return { write: onData, end: () => undefined };
  const open = decompressors.get(encoding);
  if (open === undefined) return undefined;
  let transform: Transform | undefined;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const start = (first: Buffer): Transform =>
    open(first)
      .on("data", onData)
      .on("error", () => transform?.destroy())
      .once("close", resolve);
  return {
    write(chunk) {
      transform ??= start(chunk);
      if (!transform.destroyed) transform.write(chunk);
      if (transform.writableLength > MAX_WAITING_BYTES) transform.destroy();
    },
    end() {
      if (transform === undefined || transform.destroyed) return undefined;
      transform.end();
      return over;
    },
  };
}
