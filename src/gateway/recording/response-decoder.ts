import type { Transform } from "node:stream";
import zlib, { constants } from "node:zlib";
import { isZlib } from "../decompress-body.ts";

/** Limit of queued input in bytes. Decompression stops above it, because it must not delay the response. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Streaming decompressor of a response copy. Decodes malformed and truncated responses as far as possible. */
export interface ResponseDecoder {
  write(chunk: Buffer): void;
  /** Resolves when all decompressed bytes have been emitted; `undefined` if they already were. */
  end(): Promise<void> | undefined;
}

/** Decompressors by encoding; each decodes truncated input up to its end. */
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

/** Opens zlib or raw deflate. */
function inflater(first: Buffer): Transform {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  return isZlib(first) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
}

/** Opens a decoder that passes plain bytes to `onData`; `undefined` for an unknown encoding. */
export function openDecoder(
  encodings: readonly string[],
  onData: (plain: Buffer) => void,
): ResponseDecoder | undefined {
  const [outer, ...inner] = encodings.toReversed();
  if (outer === undefined) return { write: onData, end: () => undefined };
  const open = decompressors.get(outer);
  const next = openDecoder(inner.toReversed(), onData);
  if (open === undefined || next === undefined) return undefined;
  return new DecompressingStream(open, next);
}

class DecompressingStream implements ResponseDecoder {
  readonly #open: (first: Buffer) => Transform;
  readonly #next: ResponseDecoder;
  readonly #over = Promise.withResolvers<void>();
  #transform: Transform | undefined;
  #gaveUp = false;

  constructor(open: (first: Buffer) => Transform, next: ResponseDecoder) {
    this.#open = open;
    this.#next = next;
  }

  write(chunk: Buffer): void {
    if (this.#gaveUp || chunk.length === 0) return;
    this.#transform ??= this.#start(chunk);
    this.#transform.write(chunk);
    if (this.#transform.writableLength > MAX_WAITING_BYTES) this.#giveUp();
  }

  async end(): Promise<void> {
    if (this.#transform === undefined) this.#over.resolve();
    else this.#transform.end();
    await this.#over.promise;
    await this.#next.end();
  }

  #start(first: Buffer): Transform {
    const transform = this.#open(first);
    transform.on("data", (plain: Buffer) => this.#next.write(plain));
    transform.on("error", () => this.#giveUp());
    transform.once("close", this.#over.resolve);
    return transform;
  }

  #giveUp(): void {
    this.#gaveUp = true;
    this.#transform?.destroy();
  }
}

/** Parses `Content-Encoding`, in order of application. */
export function encodingsOf(header: string | undefined): string[] {
  return (header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
}
