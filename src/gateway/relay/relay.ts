import type { FastifyReply, FastifyRequest } from "fastify";
import { Readable } from "node:stream";
import type { Permit } from "../../fairness/fair-semaphore.ts";
import type { Tenant } from "../../fairness/tenant.ts";
import { AppError } from "../../shared/errors.ts";
import type { SecretMask } from "../../shared/secret-mask.ts";
import type { ModelApi } from "../apis/model-api.ts";
import { envelopeOf, errorBodyOf, errorFrame } from "../errors.ts";
import { ResponseReader, type ResponseEnd } from "../reading/response-reader.ts";
import type { Target } from "../upstreams.ts";
import { Downstream, type OutHeaders } from "./downstream.ts";
import {
  OF_JSON,
  readError,
  readRewritten,
  withBody,
  type Head,
  type HeldBody,
  type ResponseRewrite,
} from "./held-body.ts";
import { clientHeaders, type Headers } from "./headers.ts";
import { truncatedStream, UpstreamError } from "./upstream-error.ts";
import type { UpstreamBody, UpstreamCall, UpstreamRequest, UpstreamResponse } from "./upstream.ts";

/** Client-side outcome of a relay. */
export type Outcome = "finished" | "aborted" | "client_stalled" | "upstream_cut" | "error";

/** Observer of relayed data. The relay does not depend on it. */
export interface RelayObserver {
  onSend(): void;
  /** Returns the reader of the response, which sees all of it. */
  onHead(status: number, headers: Headers): ResponseReader;
  /** The reader has read more of the response, which waits for the returned promise. */
  onData(): Promise<void> | undefined;
  /** Error sent to the client instead of a response, or within one. */
  onError(text: string): void;
  /** Called before the last byte of a complete response is sent, which waits for it, and again if more was read after it. */
  onOutcome(outcome: Outcome, status: number | undefined): Promise<void>;
}

/** Metrics of relays. */
export interface RelayMetrics {
  firstByte(route: string, seconds: number): void;
  ended(route: string, outcome: Outcome): void;
}

export interface RelayLimits {
  /** Time a client may stop reading. */
  readonly stallMs: number;
  /** Silence in a stream before a keep-alive comment, in ms; 0 for none. */
  readonly sseKeepAliveMs: number;
}

export interface RelayOptions {
  /** Route label in metrics. */
  readonly route: string;
  readonly target: Target;
  readonly upstreamRequest: UpstreamRequest;
  /** API of the response; `undefined` for an endpoint of any kind. */
  readonly modelApi?: ModelApi | undefined;
  /** Converts upstream errors to a format SDKs read. */
  readonly wrapsErrors: boolean;
  /** False: a retry could start a second paid job, so errors forbid it once the first may have started. */
  readonly repeatable: boolean;
  readonly observer?: RelayObserver | undefined;
  readonly rewrite?: ResponseRewrite | undefined;
  /** Called with the status of a response, which waits for it. */
  readonly onAnswer?: ((status: number) => Promise<void>) | undefined;
}

export interface RelayContext {
  readonly limits: RelayLimits;
  readonly meter: RelayMetrics;
  /** Masks the operator's keys. */
  readonly mask: SecretMask;
  /** Acquires a permit to read a stream on after its client disconnected; `undefined` if unavailable. */
  readonly acquireSlot: (tenant: Tenant) => Permit | undefined;
}

/** Time an upstream may keep the connection open after its last event. */
const LINGER_MS = 1000;
/** Limits for reading a stream on for its usage, which is short and arrives at once. */
const READ_ON_MS = 10_000;
const READ_ON_BYTES = 64 * 1024;
/** Time for the last bytes to a stalled client, or during shutdown. */
const LAST_BYTES_MS = 5000;
const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");
const EVENT_END = Buffer.from("\n\n");

/** Why the gateway ended an exchange. */
interface Ending {
  readonly outcome: Outcome;
  /** Sent to the client. */
  readonly error?: AppError;
}

const LEFT: Ending = { outcome: "aborted" };

/** One request sent upstream, and its response relayed as it arrives. */
export class Relay {
  /**
   * Resolves when both sides have ended. Rejects with `AppError` if there is no response to relay, so that an error can be
   * sent.
   */
  readonly closed: Promise<void>;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #options: RelayOptions;
  readonly #context: RelayContext;
  readonly #down: Downstream;
  #call: UpstreamCall | undefined;
  /** Set if the gateway ends the exchange. */
  #ending: Ending | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #reader: ResponseReader | undefined;
  #head: Head | undefined;
  #outcome: Outcome | undefined;
  #end: ResponseEnd | undefined;
  #lingers = false;
  /** Set while a stream is read on for its usage after its client disconnected. */
  #readOn: { readonly permit: Permit; bytes: number } | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, options: RelayOptions, context: RelayContext) {
    this.#request = request;
    this.#reply = reply;
    this.#options = options;
    this.#context = context;
    this.#down = new Downstream(reply.raw, context.limits.stallMs, {
      onLeave: () => this.#leave(),
      onStall: () => this.#stall(),
    });
    this.closed = this.#run();
  }

  /** Aborts an incomplete relay. */
  stop(): void {
    const error = new AppError("upstream_broken", "The gateway is stopping.", { retryAfterSeconds: 1 });
    this.#endWith({ outcome: "aborted", error });
    if (this.#reply.raw.writableEnded) this.#down.breakOff();
  }

  /** Ends a relay whose client has all, or has disconnected. */
  stopReadingOn(): void {
    if (this.#readOn !== undefined || this.#lingers) this.#endWith(LEFT);
  }

  async #run(): Promise<void> {
    const { target, upstreamRequest, observer } = this.#options;
    try {
      if (this.#down.hasLeft) {
        this.#endWith(LEFT);
        throw new Error("the client has disconnected");
      }
      this.#call = target.upstream.send(upstreamRequest, () => observer?.onSend());
      await this.#pass(await this.#call.response);
    } catch (cause) {
      await this.#fail(cause);
    } finally {
      for (const timer of this.#timers) clearTimeout(timer);
      this.#readOn?.permit.release();
      if (upstreamRequest.body instanceof Readable) upstreamRequest.body.destroy();
    }
    if (this.#outcome === "finished" && this.#reader?.isOver === true) await this.#tell("finished");
    await this.#down.closed;
  }

  async #pass({ status, headers: theirs, body }: UpstreamResponse): Promise<void> {
    const { observer, route, rewrite, onAnswer, wrapsErrors, modelApi } = this.#options;
    const { mask, meter } = this.#context;
    if (onAnswer !== undefined) await onAnswer(status);
    meter.firstByte(route, this.#reply.elapsedTime / 1000);
    const headers = mask.headers(clientHeaders(theirs));
    const reader = observer?.onHead(status, headers) ?? readerOfEvents(modelApi, headers);
    const head = { status, headers: this.#withOwn(headers) };
    this.#head = head;
    const hasBody = this.#request.method !== "HEAD";
    const isSuccess = status >= 200 && status < 300;
    if (hasBody && status >= 400) {
      const error = await readError(head, body, { wraps: wrapsErrors, mask });
      observer?.onError(error.text);
      return this.#passHeld(error, "error");
    }
    if (hasBody && isSuccess && rewrite !== undefined) {
      const hold = (bytes: number): void => this.#request.holdBytes(bytes);
      return this.#passHeld(await readRewritten(head, body, { rewrite, hold }), "finished");
    }
    this.#reader = reader;
    return this.#passOn(body, reader);
  }

  /** Relays a response as it comes. The last event, or else the last byte, waits until the response is recorded. */
  async #passOn(body: UpstreamBody, reader: ResponseReader): Promise<void> {
    const { status, headers } = this.#head!;
    const outcome = status >= 400 ? "error" : "finished";
    const { isStream } = reader;
    if (isStream) delete headers["content-length"];
    let missingBytes = Number(headers["content-length"] ?? Number.POSITIVE_INFINITY);
    this.#begin(status, headers);
    // the first bytes take the headers along, unless they are late
    if (!body.isReady) this.#down.flush();
    const keepAlive = this.#keepAlive(reader, isStream);
    for await (const chunk of body) {
      const parts = reader.pass(chunk);
      await this.#options.observer?.onData();
      if (this.#readOn !== undefined) {
        this.#readOn.bytes += chunk.length;
        if (this.#readOn.bytes > READ_ON_BYTES || !reader.awaitsUsage) this.#endWith(LEFT);
        continue;
      }
      missingBytes -= chunk.length;
      if (missingBytes <= 0) this.#end ??= reader.end();
      if (this.#end?.read !== undefined) await this.#end.read;
      if (missingBytes <= 0 || reader.isOver) await this.#settle(outcome);
      await this.#down.send(parts);
      keepAlive?.refresh();
      if (reader.isOver) this.#linger();
    }
    const { rest, isComplete, read } = (this.#end ??= reader.end());
    await read;
    await this.#options.observer?.onData();
    if (this.#readOn !== undefined) return this.#settle("aborted");
    if (isComplete) await this.#settle(outcome);
    await this.#down.send(rest);
    if (!isComplete) throw truncatedStream();
    this.#down.end();
  }

  async #passHeld({ status, headers, body }: HeldBody, outcome: Outcome): Promise<void> {
    await this.#settle(outcome);
    this.#begin(status, headers);
    this.#down.end(body);
  }

  #begin(status: number, headers: OutHeaders): void {
    this.#reply.hijack();
    this.#down.head(status, headers);
  }

  #keepAlive(reader: ResponseReader, isStream: boolean): NodeJS.Timeout | undefined {
    const { modelApi } = this.#options;
    const { sseKeepAliveMs } = this.#context.limits;
    // Google's Python client would read a comment as an event
    if (sseKeepAliveMs === 0 || !isStream || modelApi === undefined || modelApi.api === "gemini")
      return undefined;
    const timer = setInterval(() => {
      if (reader.takesComment && !this.#down.isWaiting) this.#down.write(KEEP_ALIVE);
    }, sseKeepAliveMs);
    this.#timers.push(timer);
    return timer;
  }

  /** Waits a little for what may follow the last event. */
  #linger(): void {
    if (this.#lingers) return;
    this.#lingers = true;
    this.#timers.push(setTimeout(() => this.#endWith(LEFT), LINGER_MS));
  }

  #leave(): void {
    if (this.#outcome !== undefined) return;
    const permit =
      this.#reader?.awaitsUsage === true ? this.#context.acquireSlot(this.#request.grant.tenant) : undefined;
    if (permit === undefined) return this.#endWith(LEFT);
    this.#readOn = { permit, bytes: 0 };
    this.#timers.push(setTimeout(() => this.#endWith(LEFT), READ_ON_MS));
  }

  #stall(): void {
    const { stallMs } = this.#context.limits;
    this.#request.log.warn({ route: this.#options.route, stall_ms: stallMs }, "client stalled");
    const error = new AppError("client_stalled", "The client did not read its response in time.");
    this.#endWith({ outcome: "client_stalled", error });
  }

  #endWith(ending: Ending): void {
    this.#ending ??= ending;
    this.#call?.abort();
    this.#down.giveUp();
  }

  /** Ends a relay that has no complete response. Throws the error to send, if no response has begun. */
  async #fail(cause: unknown): Promise<void> {
    const { observer, repeatable } = this.#options;
    const { outcome, error } = this.#endingOf(cause);
    if (this.#reader?.isOver === true && this.#outcome !== undefined) return this.#down.end();
    if (error !== undefined && this.#outcome === undefined) observer?.onError(error.message);
    await this.#settle(outcome);
    // nothing more can be sent, not even an error
    if (this.#down.hasLeft) return void this.#reply.hijack();
    if (this.#down.isBegun) return this.#breakOff(error);
    if (this.#head !== undefined && this.#head.status >= 400 && error !== undefined) {
      const body = Buffer.from(JSON.stringify(errorBodyOf(error, this.#request)));
      return this.#passHeld(withBody(this.#head, body, OF_JSON), outcome);
    }
    const isRisky = !(cause instanceof UpstreamError) || cause.mayHaveBeenProcessed;
    if (!repeatable && isRisky) void this.#reply.header("x-should-retry", "false");
    throw error ?? cause;
  }

  #endingOf(cause: unknown): Ending {
    if (this.#ending !== undefined) return this.#ending;
    const outcome = this.#head === undefined ? "error" : "upstream_cut";
    if (cause instanceof UpstreamError) {
      const { kind, shown, cause: reason } = cause;
      const code = reason instanceof Error && "code" in reason ? reason.code : undefined;
      this.#request.log.warn({ upstream: this.#options.target.name, kind, code }, "upstream failed");
      return { outcome, error: shown };
    }
    return { outcome: "error", ...(cause instanceof AppError && { error: cause }) };
  }

  #breakOff(error: AppError | undefined): void {
    const patienceMs = this.#ending !== undefined ? LAST_BYTES_MS : undefined;
    const { modelApi } = this.#options;
    if (this.#reader?.isStream !== true || error === undefined || this.#reader.isOver)
      return this.#down.breakOff(undefined, patienceMs);
    const { error: shown } = envelopeOf(error);
    const event = modelApi?.errorEvent(shown) ?? errorFrame(shown);
    return this.#down.breakOff(
      this.#reader.isInEvent ? Buffer.concat([EVENT_END, event]) : event,
      patienceMs,
    );
  }

  /** Merges headers set by hooks with forwarded upstream headers. */
  #withOwn(headers: OutHeaders): OutHeaders {
    const own = this.#request.id;
    const theirs = headers["x-request-id"];
    const added = this.#reply.getHeaders();
    for (const name in added) {
      const value = added[name];
      headers[name] = Array.isArray(value) ? value : String(value);
    }
    const clientNamedIt = this.#request.headers["x-request-id"] === own;
    headers["x-request-id"] = clientNamedIt || theirs === undefined ? own : theirs;
    if (theirs !== undefined && theirs !== own) headers["x-upstream-request-id"] = theirs;
    return headers;
  }

  /** Resolves when the last byte may be sent. */
  #settle(outcome: Outcome): Promise<void> | undefined {
    if (this.#outcome !== undefined) return undefined;
    this.#outcome = outcome;
    this.#context.meter.ended(this.#options.route, outcome);
    return this.#tell(outcome);
  }

  #tell(outcome: Outcome): Promise<void> | undefined {
    return this.#options.observer?.onOutcome(outcome, this.#head?.status).catch((error: unknown) => {
      this.#request.log.error({ err: error }, "completion not recorded");
    });
  }
}

/** Returns the reader of a response that is not recorded: only the end of a stream matters. */
function readerOfEvents(api: ModelApi | undefined, headers: OutHeaders): ResponseReader {
  return new ResponseReader({ api, isCopied: false, keepsContent: false, hidesUsage: false }, headers);
}
