import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { errors, Pool, type Dispatcher } from "undici";
import { readBase, type UpstreamBase } from "./upstream-path.ts";
import { UpstreamError, type FailureKind } from "./upstream-error.ts";

export interface UpstreamOptions {
  /** Base URL with path and the query added to every target, e.g. `https://host/api/training/v1`. */
  readonly baseUrl: string;
  /** Maximum sockets. Keep it above the number of open requests; more requests would queue. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** Maximum silence before the first response byte. */
  readonly headersTimeoutMs: number;
  /** Maximum silence between two response bytes. */
  readonly bodyTimeoutMs: number;
  /** Idle socket lifetime, unless the upstream asks for less. */
  readonly keepAliveMs: number;
}

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | Readable | null;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: UpstreamBody;
}

/** Throws `UpstreamError`. */
export interface UpstreamBody extends AsyncIterable<Buffer> {
  /** The next read waits for nothing. */
  readonly isReady: boolean;
}

export interface UpstreamCall {
  /** Throws `UpstreamError`. */
  readonly response: Promise<UpstreamResponse>;
  /** Ends the exchange with an `UpstreamError`, unless it is over. */
  abort(): void;
}

export interface Upstream {
  readonly base: UpstreamBase;
  /** Sends a request once. `onSend` is called when it is about to be sent. */
  send(request: UpstreamRequest, onSend?: () => void): UpstreamCall;
  /** Closes all connections at once. */
  close(): Promise<void>;
}

/** Opens an upstream behind a pool of HTTP/1.1 connections. Requests are never retried. */
export function openUpstream(options: UpstreamOptions): Upstream {
  const base = readBase(options.baseUrl);
  const pool = new Pool(base.url.origin, {
    connections: options.connections,
    connectTimeout: options.connectTimeoutMs,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    keepAliveTimeout: options.keepAliveMs,
    // one broken HTTP/2 connection would break all its streams
    allowH2: false,
  });
  return {
    base,
    send({ method, path, headers, body }, onSend = () => undefined) {
      const exchange = new Exchange(onSend);
      try {
        pool.dispatch({ method, path, headers, body }, exchange);
      } catch (error) {
        exchange.onResponseError(undefined, error as Error);
      }
      return exchange;
    },
    close: () => pool.destroy(),
  };
}

const MAX_UNREAD_BYTES = 64 * 1024;
const END = { done: true, value: undefined } as const;

/** One request and its response, whose body is read as an iterator. */
class Exchange implements UpstreamCall, UpstreamBody, Dispatcher.DispatchHandler {
  readonly #onSend: () => void;
  readonly #head = Promise.withResolvers<UpstreamResponse>();
  #controller: Dispatcher.DispatchController | undefined;
  #isSent = false;
  #isOver = false;
  #failure: UpstreamError | undefined;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #reading: PromiseWithResolvers<IteratorResult<Buffer, undefined>> | undefined;

  constructor(onSend: () => void) {
    this.#onSend = onSend;
  }

  get response(): Promise<UpstreamResponse> {
    return this.#head.promise;
  }

  get isReady(): boolean {
    return this.#unread.length > 0 || this.#isOver;
  }

  abort(): void {
    if (this.#isOver) return;
    const aborted = new errors.RequestAbortedError();
    this.onResponseError(undefined, aborted);
    this.#controller?.abort(aborted);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // aborted while it waited for a connection
    if (this.#isOver) return controller.abort(new errors.RequestAbortedError());
    this.#isSent = true;
    return this.#onSend();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status >= 200) this.#head.resolve({ status, headers, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, value: Buffer): void {
    if (this.#reading !== undefined) return this.#answer({ done: false, value });
    this.#unread.push(value);
    this.#unreadBytes += value.length;
    if (this.#unreadBytes > MAX_UNREAD_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.#isOver = true;
    this.#answer(END);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, cause: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = new UpstreamError(kindOf(cause, this.#isSent), cause);
    this.#head.reject(this.#failure);
    this.#reading?.reject(this.#failure);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    const value = this.#unread.shift();
    if (value !== undefined) {
      this.#unreadBytes -= value.length;
      if (this.#unread.length === 0) this.#controller?.resume();
      return { done: false, value };
    }
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isOver) return END;
    this.#reading = Promise.withResolvers();
    return this.#reading.promise;
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.abort();
    return END;
  }

  #answer(result: IteratorResult<Buffer, undefined>): void {
    this.#reading?.resolve(result);
    this.#reading = undefined;
  }
}

/** Source: https://undici.nodejs.org/api/Errors */
function kindOf(error: Error, isSent: boolean): FailureKind {
  const code = "code" in error ? error.code : undefined;
  if (code === "UND_ERR_CONNECT_TIMEOUT") return "connect_timeout";
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") return "timeout";
  if (code === "UND_ERR_HEADERS_OVERFLOW" || error instanceof errors.HTTPParserError) return "invalid";
  return isSent ? "broken" : "unreachable";
}
