import type { IncomingHttpHeaders } from "node:http";
import type { MaskedPieces, SecretMask } from "../../shared/secret-mask.ts";
import { openDecoder, type ResponseDecoder } from "../recording/response-decoder.ts";

/** Receiver of the response for the client. */
export interface ResponseSink {
  head(headers: IncomingHttpHeaders): void;
  data(bytes: Buffer): void;
  /** Decompression failed. */
  unreadable(): void;
}

/** Buffer limit, compressed plus decompressed bytes. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
/** Headers that describe the compressed representation. */
const OF_ENCODED = ["content-encoding", "content-length", "content-digest", "content-md5", "digest", "etag"];

/**
 * Decompresses a response to mask secrets. A short response is buffered and forwarded unchanged if it has none; otherwise
 * it is forwarded decompressed and masked.
 */
export class CompressedResponse {
  readonly #headers: IncomingHttpHeaders;
  readonly #mask: SecretMask;
  readonly #sink: ResponseSink;
  readonly #pieces: MaskedPieces;
  readonly #decoder: ResponseDecoder | undefined;
  #held: { readonly packed: Buffer[]; readonly plain: Buffer[] } | undefined = { packed: [], plain: [] };
  #heldBytes = 0;

  constructor(
    headers: IncomingHttpHeaders,
    {
      encodings,
      isHeld,
      mask,
      sink,
    }: { encodings: readonly string[]; isHeld: boolean; mask: SecretMask; sink: ResponseSink },
  ) {
    this.#headers = headers;
    this.#mask = mask;
    this.#sink = sink;
    this.#pieces = mask.pieces();
    this.#decoder = openDecoder(encodings, (plain) => this.#read(plain));
    if (!isHeld) this.#passPlain();
  }

  write(packed: Buffer): void {
    if (this.#decoder === undefined || this.#decoder.failed) return this.#sink.unreadable();
    if (this.#held !== undefined) this.#hold(this.#held.packed, packed);
    this.#decoder.write(packed);
  }

  pause(): void {
    this.#decoder?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
  }

  /** Resolves when all bytes have been forwarded. */
  async end(): Promise<void> {
    await this.#decoder?.end();
    if (this.#decoder?.failed === true) return this.#sink.unreadable();
    if (this.#held !== undefined) {
      const packed = Buffer.concat(this.#held.packed);
      const isClean = [packed, Buffer.concat(this.#held.plain)].every((one) => this.#mask.bytes(one) === one);
      if (isClean) {
        this.#sink.head(this.#headers);
        this.#pass(packed);
        return;
      }
      this.#passPlain();
    }
    this.#pass(this.#pieces.end());
  }

  #read(plain: Buffer): void {
    if (this.#held === undefined) this.#pass(this.#pieces.push(plain));
    else this.#hold(this.#held.plain, plain);
  }

  #hold(parts: Buffer[], part: Buffer): void {
    parts.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#passPlain();
  }

  #passPlain(): void {
    const plain = this.#held?.plain ?? [];
    this.#held = undefined;
    const headers = Object.entries(this.#headers).filter(([name]) => !OF_ENCODED.includes(name));
    this.#sink.head(Object.fromEntries(headers));
    for (const part of plain) this.#pass(this.#pieces.push(part));
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0) this.#sink.data(bytes);
  }
}
