import type { Transform } from "node:stream";
import zlib, { constants } from "node:zlib";

/** Input that waits to be unpacked may not grow without bound: nothing slows the answer down for it. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Unpacks a copy of an answer as it passes. What is broken or cut is read as far as it goes. */
export interface AnswerDecoder {
  write(chunk: Buffer): void;
  /** Resolves when all that could be unpacked has been given out. */
  end(): Promise<void>;
}

/** Each gives out everything until the cut, when the answer is cut. */
const unpackers: ReadonlyMap<string, (first: Buffer) => Transform> = new Map([
  ["gzip", () => zlib.createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })],
  ["x-gzip", () => zlib.createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })],
  ["deflate", inflater],
  ["br", () => zlib.createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  // not in Node before 22.15
  ...("createZstdDecompress" in zlib
    ? ([["zstd", () => zlib.createZstdDecompress({ finishFlush: constants.ZSTD_e_flush })]] as const)
    : []),
]);

/** Some servers send raw deflate, which does not begin with the header that the name promises. */
function inflater(first: Buffer): Transform {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  return ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(options) : zlib.createInflateRaw(options);
}

/** `onData` is given the plain bytes. Undefined: one of the encodings is none that we know. */
export function openDecoder(
  encodings: readonly string[],
  onData: (plain: Buffer) => void,
): AnswerDecoder | undefined {
  const [outer, ...inner] = encodings.toReversed();
  if (outer === undefined) return { write: onData, end: () => Promise.resolve() };
  const open = unpackers.get(outer);
  const next = openDecoder(inner.toReversed(), onData);
  if (open === undefined || next === undefined) return undefined;
  return new Unpacking(open, next);
}

class Unpacking implements AnswerDecoder {
  readonly #open: (first: Buffer) => Transform;
  readonly #next: AnswerDecoder;
  readonly #over = Promise.withResolvers<void>();
  #transform: Transform | undefined;
  #gaveUp = false;

  constructor(open: (first: Buffer) => Transform, next: AnswerDecoder) {
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

/** The encodings of a `Content-Encoding`, in the order in which they were applied. */
export function encodingsOf(header: string | undefined): string[] {
  return (header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
}
