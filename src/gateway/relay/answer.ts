import type { PassingStream } from "../stream/chat-stream.ts";
import type { Downstream } from "./downstream.ts";
import { envelopeOf, errorFrame, readableError } from "../error-envelope.ts";
import { isJson } from "./headers.ts";
import type { UpstreamFailure } from "./upstream.ts";
import { errorOf, truncatedStream } from "./upstream-failure.ts";

export type OutHeaders = Record<string, string | string[]>;

/** One way of passing an upstream's answer on. Made when its head is there. */
export interface Answer {
  data(chunk: Buffer): void;
  /** The upstream has sent everything. Returns what was missing, if anything was. */
  end(): UpstreamFailure | undefined;
  /** There will be no more: the client learns why, where the answer has a place for it, and sees that it was cut. */
  fail(failure: UpstreamFailure, patienceMs?: number): void;
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
      down.write(chunk);
      onChunk?.(chunk);
    },
    end() {
      down.end();
      return undefined;
    },
    fail: (_failure, patienceMs) => down.breakOff(undefined, patienceMs),
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
      if (held === undefined) {
        down.write(chunk);
        return;
      }
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes <= MAX_ERROR_BYTES) return;
      down.head(head.status, head.headers);
      for (const part of held) down.write(part);
      held = undefined;
    },
    end() {
      if (held !== undefined) {
        const body = Buffer.concat(held, heldBytes);
        const readable = readableError(head.status, body) ?? body;
        onError?.(readable);
        const type = head.headers["content-type"];
        const isStillTrue = typeof type === "string" && isJson(type);
        down.head(head.status, {
          ...head.headers,
          "content-type": isStillTrue ? type : "application/json",
          "content-length": String(readable.length),
        });
        down.write(readable);
      }
      down.end();
      return undefined;
    },
    fail(failure, patienceMs) {
      if (held === undefined) return down.breakOff(undefined, patienceMs);
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
    if (stream.takesComment && !down.isWaiting) down.write(KEEP_ALIVE);
  };
  const keepAlive = options.keepAliveMs === 0 ? undefined : setInterval(comment, options.keepAliveMs);
  const close = (): void => {
    clearInterval(keepAlive);
    stream.close();
  };
  const fail = (failure: UpstreamFailure, patienceMs?: number): void => {
    close();
    if (stream.done) return;
    const frame = errorFrame(envelopeOf(errorOf(failure)).error);
    down.breakOff(stream.inEvent ? Buffer.concat([EVENT_END, frame]) : frame, patienceMs);
  };
  const pass = (parts: readonly Buffer[]): void => {
    if (parts.length === 0) return;
    keepAlive?.refresh();
    for (const part of joinNeighbours(parts)) down.write(part);
    if (!stream.done) return;
    close();
    down.end();
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

/** Parts that lie side by side in the same memory, as events of one read do, leave in one write. */
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
