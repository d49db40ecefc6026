import type { SecretMask } from "../../shared/secret-mask.ts";
import { decompressBody } from "../decompress-body.ts";
import type { StreamTransform } from "../stream/chat-stream.ts";
import { firstByte, isObject } from "../stream/first-byte.ts";
import type { Downstream } from "./downstream.ts";
import { envelopeOf, readableError } from "../error-envelope.ts";
import { headersOfChanged, isJson } from "./headers.ts";
import type { UpstreamFailure } from "./upstream.ts";
import { errorOf, truncatedStream } from "./upstream-failure.ts";

export type OutHeaders = Record<string, string | string[]>;

/** Relay of an upstream response, created when its headers arrive. */
export interface RelayedResponse {
  data(chunk: Buffer): void;
  /** Handles the upstream's end. Returns a failure if the response is incomplete. */
  end(): UpstreamFailure | undefined;
  /** Aborts the response: sends the reason if the format allows, and makes the cut visible. */
  fail(failure: UpstreamFailure, patienceMs?: number): void;
  /** The whole response was sent, though the connection may still be open. */
  readonly delivered: boolean;
  /** Stops timers. */
  close(): void;
}

export interface Head {
  readonly status: number;
  readonly headers: OutHeaders;
}

/** Called at least once before the last byte of a complete response, which waits for the promise. */
export type OnComplete = () => Promise<void> | undefined;

/** Relays bytes unchanged; copies them to `onChunk`. */
export function plainResponse(
  down: Downstream,
  head: Head,
  { onChunk, onComplete }: { onChunk: ((chunk: Buffer) => void) | undefined; onComplete: OnComplete },
): RelayedResponse {
  down.head(head.status, head.headers);
  let missingBytes = Number(head.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  return {
    data(chunk) {
      missingBytes -= chunk.length;
      if (missingBytes > 0) down.write(chunk);
      onChunk?.(chunk);
      if (missingBytes <= 0) whenOver(onComplete(), () => down.write(chunk));
    },
    end: () => whenOver(onComplete(), () => down.end()),
    fail: (_failure, patienceMs) => down.breakOff(undefined, patienceMs),
    delivered: false,
    close: () => undefined,
  };
}

function whenOver(completed: Promise<void> | undefined, then: () => void): undefined {
  if (completed === undefined) then();
  else completed.finally(then).catch(() => undefined);
}

/** Larger errors pass as they come. */
const MAX_ERROR_BYTES = 256 * 1024;
const MAX_PLAIN_ERROR_BYTES = 4 * MAX_ERROR_BYTES;
const OF_JSON = { "content-type": "application/json" };

export interface ErrorOptions {
  readonly encodings: readonly string[];
  readonly mask: SecretMask;
  /** Converts errors to a format SDKs read. */
  readonly wraps: boolean;
  /** Builds the body of an error that replaces an interrupted one. */
  readonly bodyOf: (failure: UpstreamFailure) => object;
  /** Receives the body sent to the client. */
  readonly onError: (body: Buffer) => void;
  readonly onComplete: OnComplete;
}

/** Buffers an upstream error until it is complete, and masks secrets. What cannot be decompressed passes unchanged. */
export function errorResponse(
  down: Downstream,
  { status, headers }: Head,
  { encodings, mask, wraps, bodyOf, onError, onComplete }: ErrorOptions,
): RelayedResponse {
  let held: Buffer[] | undefined = [];
  let heldBytes = 0;
  const pieces = encodings.length === 0 ? mask.pieces() : undefined;
  const pass = (chunk: Buffer): void => down.write(pieces?.push(chunk) ?? chunk);
  const send = (body: Buffer, out: OutHeaders): void => {
    down.head(status, { ...out, "content-length": String(body.length) });
    down.end(body);
  };
  const readable = (plain: Buffer): Buffer => {
    const masked = mask.bytes(plain);
    return (wraps ? readableError(status, masked) : undefined) ?? masked;
  };
  return {
    data(chunk) {
      if (held === undefined) return pass(chunk);
      heldBytes += chunk.length;
      held.push(chunk);
      if (heldBytes <= MAX_ERROR_BYTES) return;
      down.head(status, headers);
      for (const part of held) pass(part);
      held = undefined;
    },
    end() {
      const theirs = held && Buffer.concat(held);
      const plain = theirs && decompressBody(encodings, theirs, MAX_PLAIN_ERROR_BYTES);
      const body = plain && readable(plain);
      if (body !== undefined) onError(body);
      void onComplete();
      const becomesJson = wraps && body !== undefined && !isJson(String(headers["content-type"]));
      const out = becomesJson ? { ...headers, ...OF_JSON } : headers;
      if (theirs === undefined) down.end(pieces?.end());
      else if (body === undefined || body.equals(plain!)) send(theirs, out);
      else send(body, headersOfChanged(out));
      return undefined;
    },
    fail(failure, patienceMs) {
      if (held === undefined) return down.breakOff(undefined, patienceMs);
      return send(Buffer.from(JSON.stringify(bodyOf(failure))), { ...headersOfChanged(headers), ...OF_JSON });
    },
    delivered: false,
    close: () => undefined,
  };
}

const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");
const EVENT_END = Buffer.from("\n\n");
/** Time the end marker waits for usage that may follow it. */
const BEHIND_END_MS = 1000;

/**
 * Relays an event stream. A broken stream ends with an error event and an aborted transfer, never cleanly. A JSON object
 * labelled as a stream passes unchanged.
 */
export function streamResponse(
  down: Downstream,
  head: Head,
  stream: StreamTransform,
  options: {
    /** Silence before a keep-alive comment, in ms; 0 for none. */
    readonly keepAliveMs: number;
    readonly onChunk: ((chunk: Buffer) => void) | undefined;
    readonly onComplete: OnComplete;
  },
): RelayedResponse {
  const { "content-length": _unknownNow, ...headers } = head.headers;
  down.head(head.status, headers);
  let form: "unknown" | "events" | "object" = "unknown";
  let behindEnd: NodeJS.Timeout | undefined;

  const comment = (): void => {
    if (form !== "object" && stream.takesComment && !down.isWaiting) down.write(KEEP_ALIVE);
  };
  const keepAlive = options.keepAliveMs === 0 ? undefined : setInterval(comment, options.keepAliveMs);
  const close = (): void => {
    clearInterval(keepAlive);
    clearTimeout(behindEnd);
    stream.close();
  };
  const fail = (failure: UpstreamFailure, patienceMs?: number): void => {
    if (form === "object") return down.breakOff(undefined, patienceMs);
    if (stream.holdsEnd) return pass(stream.finish());
    close();
    if (stream.done) return;
    if (stream.reachedEnd) return down.end();
    const frame = stream.frame(envelopeOf(errorOf(failure)).error);
    down.breakOff(stream.inEvent ? Buffer.concat([EVENT_END, frame]) : frame, patienceMs);
  };
  const pass = (parts: readonly Buffer[]): void => {
    if (parts.length === 0) return;
    if (stream.reachedEnd) void options.onComplete();
    keepAlive?.refresh();
    for (const part of joinNeighbours(parts)) down.write(part);
    if (stream.holdsEnd) behindEnd ??= setTimeout(() => pass(stream.finish()), BEHIND_END_MS);
    if (!stream.done) return;
    close();
    down.end();
  };
  const readForm = (chunk: Buffer): void => {
    const first = firstByte(chunk);
    if (first === undefined) return;
    form = isObject(first.byte) ? "object" : "events";
    if (form === "object") for (const blank of stream.finish()) down.write(blank);
  };
  return {
    data(chunk) {
      if (form === "unknown") readForm(chunk);
      if (form !== "object") return pass(stream.push(chunk));
      options.onChunk?.(chunk);
      down.write(chunk);
    },
    end() {
      if (form === "object") {
        close();
        return whenOver(options.onComplete(), () => down.end());
      }
      if (stream.done) return undefined;
      const rest = stream.finish();
      if (stream.complete) void options.onComplete();
      pass(rest);
      if (!stream.complete) {
        const failure = truncatedStream();
        fail(failure);
        return failure;
      }
      close();
      if (!stream.done) down.end();
      return undefined;
    },
    fail,
    get delivered() {
      return stream.reachedEnd;
    },
    close,
  };
}

/** Joins buffers that are adjacent in memory, such as events of one read, into one write. */
function joinNeighbours(parts: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.buffer === part.buffer && last.byteOffset + last.length === part.byteOffset) {
      joined[joined.length - 1] = Buffer.from(part.buffer, last.byteOffset, last.length + part.length);
    } else {
      joined.push(part);
    }
  }
  return joined;
}
