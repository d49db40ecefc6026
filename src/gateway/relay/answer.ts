import type { PassingStream } from "../stream/chat-stream.ts";
import type { Downstream } from "./downstream.ts";
import { envelopeOf, errorFrame, readableError } from "../error-envelope.ts";
import type { UpstreamFailure } from "./upstream.ts";
import { errorOf, truncatedStream } from "./upstream-failure.ts";

export type OutHeaders = Record<string, string | string[]>;

/** One way of passing an upstream's answer on. Made when its head is there. */
export interface Answer {
  /** False asks the upstream to wait. */
  data(chunk: Buffer): boolean;
  /** The upstream has sent everything; tells what was missing, if anything was. */
  end(): UpstreamFailure | undefined;
  /** The upstream broke off. */
  fail(failure: UpstreamFailure): void;
  /** The client has all it was to get, though the connection may still be open. */
  readonly delivered: boolean;
  /** Ends what runs on its own. */
  close(): void;
}

export interface Head {
  readonly status: number;
  readonly headers: OutHeaders;
}

/** Bytes as they come. `onChunk` sees a copy. */
export function plainAnswer(down: Downstream, head: Head, onChunk?: (chunk: Buffer) => void): Answer {
  down.head(head.status, head.headers);
  return {
    data(chunk) {
      onChunk?.(chunk);
      return down.write([chunk]);
    },
    end() {
      down.end();
      return undefined;
    },
    fail: () => down.breakOff(),
    delivered: false,
    close: () => undefined,
  };
}

/** An error larger than this passes as it is. */
const MAX_ERROR_BYTES = 256 * 1024;

/** An error of the upstream, made readable for SDKs. `onError` sees what the client gets. */
export function errorAnswer(down: Downstream, head: Head, onError?: (body: Buffer) => void): Answer {
  let held: Buffer[] | undefined = [];
  let heldBytes = 0;
  return {
    data(chunk) {
      if (held === undefined) return down.write([chunk]);
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes <= MAX_ERROR_BYTES) return true;
      const all = held;
      held = undefined;
      down.head(head.status, head.headers);
      return down.write(all);
    },
    end() {
      if (held !== undefined) {
        const body = Buffer.concat(held, heldBytes);
        const readable = readableError(head.status, body) ?? body;
        onError?.(readable);
        down.head(head.status, {
          ...head.headers,
          "content-type": "application/json",
          "content-length": String(readable.length),
        });
        down.write([readable]);
      }
      down.end();
      return undefined;
    },
    fail(failure) {
      if (held === undefined) return down.breakOff();
      const body = Buffer.from(JSON.stringify(envelopeOf(errorOf(failure))));
      down.head(head.status, {
        ...head.headers,
        "content-type": "application/json",
        "content-length": String(body.length),
      });
      return down.end(body);
    },
    delivered: false,
    close: () => undefined,
  };
}

const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");
const EVENT_END = Buffer.from("\n\n");

/** An event stream. One that breaks ends with an error event and a broken transfer, never in good order. */
export function streamAnswer(
  down: Downstream,
  head: Head,
  stream: PassingStream,
  options: { /** A comment after this much silence; 0 for none. */ readonly keepAliveMs: number },
): Answer {
  const { "content-length": _unknownNow, ...headers } = head.headers;
  down.head(head.status, headers);

  const comment = (): void => {
    if (stream.takesComment && !down.isBlocked) down.write([KEEP_ALIVE]);
  };
  const keepAlive = options.keepAliveMs === 0 ? undefined : setInterval(comment, options.keepAliveMs);
  const close = (): void => clearInterval(keepAlive);
  const fail = (failure: UpstreamFailure): void => {
    close();
    if (stream.done) return;
    const frame = errorFrame(envelopeOf(errorOf(failure)).error);
    down.breakOff(stream.inEvent ? Buffer.concat([EVENT_END, frame]) : frame);
  };
  const pass = (parts: readonly Buffer[]): boolean => {
    if (parts.length === 0) return true;
    keepAlive?.refresh();
    const ready = down.write(parts);
    if (!stream.done) return ready;
    close();
    down.end();
    return true;
  };
  return {
    data: (chunk) => pass(stream.push(chunk)),
    end() {
      if (stream.done) return undefined;
      pass(stream.finish());
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
      return stream.done;
    },
    close,
  };
}
