import type { IncomingMessage } from "node:http";
import { Transform, type TransformCallback } from "node:stream";
import { callbackify } from "node:util";
import type { FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";

/** True if a request has a body. Source: RFC 9112, section 6. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || (contentLengthOf(request) ?? 0) > 0;
}

export function contentLengthOf(request: IncomingMessage): number | undefined {
  const length = request.headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** Throws payload_too_large, before reading the body, if the declared length exceeds the limit. */
export function checkDeclaredLength(request: IncomingMessage, limitBytes: number): void {
  if ((contentLengthOf(request) ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

export function tooLarge(limitBytes: number): AppError {
  return new AppError("payload_too_large", `The body exceeds this route's limit of ${limitBytes} bytes.`);
}

/**
 * Request body streamed upstream at the upstream's pace. Decouples the two connections, so that closing one does not close
 * the other. Fails with payload_too_large, or bad_request if the client disconnects.
 */
export class Upload extends Transform {
  readonly #limitBytes: number;
  readonly #check: UploadCheck | undefined;
  /** Last chunk, until the body is checked. */
  #held: Buffer | undefined;
  #bytes = 0;

  constructor(limitBytes: number, check?: UploadCheck) {
    super({ highWaterMark: 64 * 1024 });
    this.#limitBytes = limitBytes;
    this.#check = check;
    // without a listener of its own, a late error would end the process
    this.on("error", () => undefined);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limitBytes) return done(tooLarge(this.#limitBytes));
    if (this.#check === undefined) return done(null, chunk);
    this.#check.push(chunk);
    const before = this.#held;
    this.#held = chunk;
    return done(null, before);
  }

  override _flush(done: TransformCallback): void {
    const checked = async (): Promise<Buffer | undefined> => {
      await this.#check?.finish();
      return this.#held;
    };
    callbackify(checked)(done);
  }
}

/** Check of a body while it is streamed. Its last chunk waits, so the upstream never has the whole of a rejected body. */
export interface UploadCheck {
  push(chunk: Buffer): void;
  /** Errors: the reason to reject the body. */
  finish(): Promise<void>;
}

export interface UploadOptions {
  readonly limitBytes: number;
  /** Accounts for buffered bytes. Throws service_overloaded. */
  readonly hold: (bytes: number) => void;
  /** Body bytes already read. */
  readonly prefix?: readonly Buffer[];
  readonly check?: UploadCheck;
  /** Sees each chunk once, as it arrives. */
  readonly onChunk?: ((chunk: Buffer) => void) | undefined;
}

export function uploadOptions(request: FastifyRequest, limitBytes: number): UploadOptions {
  return { limitBytes, hold: (bytes) => request.holdBytes(bytes) };
}

/** Bodies up to this length are sent at once. */
const SMALL_BYTES = 64 * 1024;

/** Returns the request body for the upstream: null, a small buffer, or a stream. Throws as `startUpload`. */
export async function bodyToSend(
  request: IncomingMessage,
  options: UploadOptions,
): Promise<Buffer | Upload | null> {
  checkDeclaredLength(request, options.limitBytes);
  if (!hasBody(request)) return null;
  const length = contentLengthOf(request);
  if (length === undefined || length > SMALL_BYTES) {
    return startUpload(request, options);
  }
  const read = await readBody(request, length, options);
  return read.complete ? read.bytes : startUpload(request, { ...options, prefix: read.prefix });
}

/**
 * Streams the rest of a request body. The stream fails with payload_too_large, or bad_request if the client disconnects.
 */
export function startUpload(
  request: IncomingMessage,
  { limitBytes, prefix = [], check, onChunk }: UploadOptions,
): Upload {
  const upload = new Upload(limitBytes, check);
  const gone = (): void => {
    if (!request.complete)
      upload.destroy(new AppError("bad_request", "The client disconnected before the end of the body."));
  };
  request.once("close", gone);
  upload.once("close", () => {
    request.off("close", gone);
    if (onChunk !== undefined) request.off("data", onChunk);
    request.unpipe(upload);
    // if the upstream responded early, discard the rest so that the connection can be reused
    request.resume();
  });
  for (const part of prefix) upload.write(part);
  // before the upload has it: its end waits for what this has seen
  if (onChunk !== undefined) request.on("data", onChunk);
  request.pipe(upload);
  return upload;
}

export type ReadBody =
  | { readonly complete: true; readonly bytes: Buffer }
  | { readonly complete: false; readonly prefix: readonly Buffer[] };

/**
 * Reads a body into memory, up to `maxBytes`. For a longer body, returns the bytes read and leaves the request paused.
 * Throws bad_request if the client disconnects; service_overloaded.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  { hold, onChunk }: Pick<UploadOptions, "hold" | "onChunk">,
): Promise<ReadBody> {
  const buffered = request.readableLength;
  if (buffered > 0 && buffered === contentLengthOf(request) && buffered <= maxBytes) {
    // the whole body arrived with the headers: no listeners, no event loop turn
    hold(buffered);
    const bytes = request.read() as Buffer;
    onChunk?.(bytes);
    request.resume();
    return { complete: true, bytes };
  }
  const { promise, resolve, reject } = Promise.withResolvers<ReadBody>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const finish = (outcome: () => void): void => {
    request.off("data", onData).off("end", onEnd).off("close", onClose);
    outcome();
  };
  const onData = (chunk: Buffer): void => {
    try {
      hold(chunk.length);
    } catch (error) {
      finish(() => reject(error));
      return;
    }
    onChunk?.(chunk);
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    request.pause();
    finish(() => resolve({ complete: false, prefix: chunks }));
  };
  const onEnd = (): void => finish(() => resolve({ complete: true, bytes: Buffer.concat(chunks, bytes) }));
  const onClose = (): void =>
    finish(() => reject(new AppError("bad_request", "The client disconnected before the end of the body.")));
  request.on("data", onData).on("end", onEnd).on("close", onClose);
  return promise;
}
