import type { FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { AppError } from "../../shared/errors.ts";
import type { Permit } from "../../fairness/fair-semaphore.ts";
import type { SecretMask } from "../../shared/secret-mask.ts";
import { errorBodyOf } from "../error-envelope.ts";
import {
  errorResponse,
  plainResponse,
  streamResponse,
  type Head,
  type OnComplete,
  type RelayedResponse,
} from "./response.ts";
import type { StreamTransform } from "../stream/chat-stream.ts";
import { Downstream, type DownstreamListener } from "./downstream.ts";
import { heldResponse, isRewritten, type ResponseRewrite } from "./held-response.ts";
import { clientHeaders, isEventStream } from "./headers.ts";
import { encodingsOf } from "../recording/response-decoder.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import type {
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamListener,
  UpstreamRequest,
} from "./upstream.ts";
import { errorOf, rowOf } from "./upstream-failure.ts";

/** Client-side outcome of a relay. */
export type Outcome = "finished" | "aborted" | "client_stalled" | "upstream_cut" | "error";

/** Observer of relayed data. The relay does not depend on it. */
export interface RelayObserver {
  onSend(): void;
  onHead(status: number, headers: IncomingHttpHeaders): void;
  onEvent(event: StreamEvent): void;
  onChunk(chunk: Buffer): void;
  /** Error sent to the client instead of a response, or within one. */
  onError(text: string): void;
  /** Called before the last byte of a complete response is sent. That byte waits for the returned promise. */
  onOutcome(outcome: Outcome, status: number | undefined): Promise<void> | undefined;
}

/** Metrics of relays. */
export interface RelayMetrics {
  firstByte(route: string, seconds: number): void;
  ended(route: string, outcome: Outcome): void;
}

export interface RelayTarget {
  readonly name: string;
  readonly upstream: Upstream;
}

export interface RelayOptions {
  /** Route label in metrics. */
  readonly route: string;
  readonly meter: RelayMetrics;
  readonly target: RelayTarget;
  readonly upstreamRequest: UpstreamRequest;
  /** Converts upstream errors to a format SDKs read. */
  readonly wrapsErrors: boolean;
  /** Opens the transform of event streams; `onEvent` is called before an event is relayed. */
  readonly openStream: (onEvent: ((event: StreamEvent) => void) | undefined) => StreamTransform;
  /** False: a retry could start a second paid job, so errors forbid it once the first may have started. */
  readonly repeatable: boolean;
  readonly keepAliveMs: number;
  /** Time a client may stop reading. */
  readonly stallMs: number;
  readonly observer: RelayObserver | undefined;
  readonly rewrite?: ResponseRewrite | undefined;
  /** Acquires an open-request permit to read a stream on after its client disconnected; `undefined` if unavailable. */
  readonly acquireSlot: () => Permit | undefined;
  /** Masks the operator's keys. */
  readonly mask: SecretMask;
}

/** Time an upstream may keep the connection open after its end marker. */
const LINGER_MS = 1000;
/** Limits for reading a stream on for its usage, which is short and arrives at once. */
const READ_ON_MS = 10_000;
const READ_ON_BYTES = 64 * 1024;
/** Time for the last bytes to a stalled client, or during shutdown. */
const LAST_BYTES_MS = 5000;

export interface RunningRelay {
  /**
   * Resolves when the client's side closes. Rejects with `AppError` if there is no response to relay, so that an error can
   * be sent.
   */
  readonly closed: Promise<void>;
  /** Aborts an incomplete relay. */
  stop(): void;
  /** Ends a relay whose client has disconnected. */
  stopReadingOn(): void;
}

/** Sends one request upstream and relays the response as it arrives. */
export function startRelay(
  request: FastifyRequest,
  reply: FastifyReply,
  options: RelayOptions,
): RunningRelay {
  const relay = new Relay(request, reply, options);
  relay.run();
  return relay;
}

class Relay implements RunningRelay, UpstreamListener, DownstreamListener {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #options: RelayOptions;
  readonly #down: Downstream;
  readonly #over = Promise.withResolvers<void>();
  #call: UpstreamCall | undefined;
  #response: RelayedResponse | undefined;
  #stream: StreamTransform | undefined;
  #status: number | undefined;
  #outcome: Outcome | undefined;
  #observed: Promise<void> | undefined;
  /** Set while a stream is read on for its usage after its client disconnected. */
  #readOn: { readonly permit: Permit; readonly timer: NodeJS.Timeout; bytes: number } | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, options: RelayOptions) {
    this.#request = request;
    this.#reply = reply;
    this.#options = options;
    this.#down = new Downstream(reply.raw, options.stallMs, this);
  }

  get closed(): Promise<void> {
    return this.#over.promise;
  }

  run(): void {
    const { target, upstreamRequest } = this.#options;
    if (this.#down.hasLeft) {
      this.onLeave();
      this.onClose();
    } else {
      this.#call = target.upstream.send(upstreamRequest, this);
    }
  }

  stop(): void {
    this.#call?.abort();
    const cause = new AppError("upstream_broken", "The gateway is stopping.", { retryAfterSeconds: 1 });
    if (this.#outcome === undefined) this.#options.observer?.onError(cause.message);
    void this.#end("aborted");
    if (this.#response === undefined) this.#reject({ kind: "broken", cause });
    else if (this.#response.delivered) this.#down.breakOff(undefined, LAST_BYTES_MS);
    else this.#response.fail({ kind: "broken", cause }, LAST_BYTES_MS);
  }

  onSend(): void {
    this.#options.observer?.onSend();
  }

  onHead(status: number, theirs: IncomingHttpHeaders): void {
    const { observer, meter, route, rewrite, mask } = this.#options;
    const headers = maskedHeaders(theirs, mask);
    this.#status = status;
    meter.firstByte(route, this.#reply.elapsedTime / 1000);
    observer?.onHead(status, headers);
    const head = { status, headers: this.#outHeaders(headers) };
    if (rewrite !== undefined && this.#request.method !== "HEAD" && isRewritten(rewrite, status, headers)) {
      this.#response = this.#hold(rewrite, head);
      return;
    }
    this.#response = this.#responseTo(head, headers);
    this.#reply.hijack();
  }

  onData(chunk: Buffer): boolean {
    this.#response?.data(chunk);
    if (this.#readOn === undefined) return !this.#down.mustWait();
    this.#readOn.bytes += chunk.length;
    if (this.#readOn.bytes > READ_ON_BYTES || this.#stream?.awaitsUsage !== true) this.stopReadingOn();
    return true;
  }

  onEnd(): void {
    const failure = this.#response?.end();
    if (this.#readOn !== undefined) return this.stopReadingOn();
    if (failure !== undefined) this.#failed(failure, "upstream_cut");
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#readOn !== undefined) return this.stopReadingOn();
    if (this.#response !== undefined) {
      const { delivered } = this.#response;
      this.#response.fail(failure);
      if (!delivered) this.#failed(failure, "upstream_cut");
      return;
    }
    this.#failed(failure, "error");
    this.#reject(failure);
  }

  onDrain(): void {
    this.#call?.resume();
  }

  onStall(): void {
    const { route, stallMs, observer } = this.#options;
    this.#request.log.warn({ route, stall_ms: stallMs }, "client stalled");
    this.#call?.abort();
    const cause = new AppError("client_stalled", "The client did not read its response in time.");
    observer?.onError(cause.message);
    void this.#end("client_stalled");
    if (this.#response?.delivered === false) this.#response.fail({ kind: "broken", cause }, LAST_BYTES_MS);
    else this.#down.breakOff();
  }

  onLeave(): void {
    if (this.#outcome !== undefined) return;
    const permit = this.#stream?.awaitsUsage === true ? this.#options.acquireSlot() : undefined;
    if (permit !== undefined) {
      const timer = setTimeout(() => this.stopReadingOn(), READ_ON_MS);
      this.#readOn = { permit, timer, bytes: 0 };
      return this.#call?.resume();
    }
    this.#call?.abort();
    void this.#end("aborted");
  }

  stopReadingOn(): void {
    if (this.#readOn === undefined) return;
    clearTimeout(this.#readOn.timer);
    this.#readOn.permit.release();
    this.#readOn = undefined;
    this.#call?.abort();
    void this.#end("aborted");
    this.onClose();
  }

  onClose(): void {
    if (this.#readOn !== undefined) return;
    const { body } = this.#options.upstreamRequest;
    this.#response?.close();
    if (body instanceof Readable) body.destroy();
    // nothing more can be sent, not even an error
    this.#reply.hijack();
    this.#over.resolve();
    if (this.#response?.delivered === true) setTimeout(() => this.#call?.abort(), LINGER_MS).unref();
  }

  /** Rejects with an error response instead of the upstream's. */
  #reject(failure: UpstreamFailure): void {
    const { repeatable } = this.#options;
    if (!repeatable && rowOf(failure).mayHaveBeenProcessed)
      void this.#reply.header("x-should-retry", "false");
    this.#over.reject(errorOf(failure));
  }

  #responseTo(head: Head, headers: IncomingHttpHeaders): RelayedResponse {
    const { wrapsErrors: wraps, openStream, observer, keepAliveMs, mask } = this.#options;
    const isError = head.status >= 400;
    const onComplete: OnComplete = () => this.#end(isError ? "error" : "finished");
    const listener = { onChunk: observer?.onChunk.bind(observer), onComplete };
    const encodings = encodingsOf(headers["content-encoding"]);
    if (isError && this.#request.method !== "HEAD") {
      const onError = (body: Buffer): void => observer?.onError(body.toString("utf8"));
      const bodyOf = (failure: UpstreamFailure): object => errorBodyOf(errorOf(failure), this.#request);
      return errorResponse(this.#down, head, { encodings, mask, wraps, bodyOf, onError, onComplete });
    }
    if (encodings.length === 0 && isEventStream(headers["content-type"])) {
      this.#stream = openStream(observer?.onEvent.bind(observer));
      return streamResponse(this.#down, head, this.#stream, { keepAliveMs, ...listener });
    }
    return plainResponse(this.#down, head, listener);
  }

  #hold(rewrite: ResponseRewrite, head: Head): RelayedResponse {
    return heldResponse(this.#down, head, {
      rewrite,
      hold: (bytes) => this.#request.server.bodies.hold(this.#request, bytes),
      onSend: () => void this.#reply.hijack(),
      onError: (reason) => {
        void this.#end("error");
        this.#call?.abort();
        if (!this.#options.repeatable) void this.#reply.header("x-should-retry", "false");
        this.#over.reject(reason);
      },
      onComplete: () => this.#end("finished"),
    });
  }

  /** Merges headers set by hooks with forwarded upstream headers. */
  #outHeaders(upstream: IncomingHttpHeaders): Head["headers"] {
    const headers = clientHeaders(upstream);
    const own = this.#request.id;
    const theirs = headers["x-request-id"];
    for (const [name, value] of Object.entries(this.#reply.getHeaders())) headers[name] = toHeader(value);
    const clientNamedIt = this.#request.headers["x-request-id"] === own;
    headers["x-request-id"] = clientNamedIt || theirs === undefined ? own : theirs;
    if (theirs !== undefined && theirs !== own) headers["x-upstream-request-id"] = theirs;
    return headers;
  }

  #failed(failure: UpstreamFailure, outcome: "upstream_cut" | "error"): void {
    const { kind, cause } = failure;
    const code = "code" in cause ? cause.code : cause.name;
    this.#request.log.warn({ upstream: this.#options.target.name, kind, code }, "upstream failed");
    this.#options.observer?.onError(errorOf(failure).message);
    void this.#end(outcome);
  }

  /** Resolves when the last byte may be sent; `undefined`: at once. */
  #end(outcome: Outcome): Promise<void> | undefined {
    // while reading on, only the end of the stream counts
    if (this.#outcome !== undefined || this.#readOn !== undefined) return this.#observed;
    this.#outcome = outcome;
    this.#options.meter.ended(this.#options.route, outcome);
    try {
      this.#observed = this.#options.observer?.onOutcome(outcome, this.#status);
    } catch (error) {
      this.#request.log.error({ err: error }, "completion not recorded");
    }
    return this.#observed;
  }
}

function maskedHeaders(headers: IncomingHttpHeaders, mask: SecretMask): IncomingHttpHeaders {
  const masked = (value: string | string[] | undefined) =>
    Array.isArray(value) ? value.map(mask.text) : value && mask.text(value);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, masked(value)]));
}

function toHeader(value: number | string | string[] | undefined): string | string[] {
  return Array.isArray(value) ? value : String(value);
}
