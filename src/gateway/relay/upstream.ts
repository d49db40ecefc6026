import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { errors, Pool, type Dispatcher } from "undici";
import { readBase, type UpstreamBase } from "./upstream-path.ts";

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

/** Listener of one request. `onEnd` or `onFailure` is the last call. */
export interface UpstreamListener {
  /** The request is about to be sent. */
  onSend(): void;
  onHead(status: number, headers: IncomingHttpHeaders): void;
  /** Returns false to pause until `resume`. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

export interface UpstreamCall {
  /** Aborts the request; the listener gets no more calls. */
  abort(): void;
  resume(): void;
}

export type FailureKind = "unreachable" | "connect_timeout" | "timeout" | "broken" | "invalid";

export interface UpstreamFailure {
  readonly kind: FailureKind;
  readonly cause: Error;
}

export interface Upstream {
  readonly base: UpstreamBase;
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
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
    send(request, listener) {
      const call = new Call(listener);
      try {
        pool.dispatch(
          {
            method: request.method,
            path: request.path,
            headers: request.headers,
            body: request.body,
          },
          call,
        );
      } catch (error) {
        call.onResponseError(undefined, error as Error);
      }
      return call;
    },
    close: () => pool.destroy(),
  };
}

class Call implements UpstreamCall, Dispatcher.DispatchHandler {
  readonly #listener: UpstreamListener;
  #controller: Dispatcher.DispatchController | undefined;
  #sent = false;
  #over = false;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) {
      controller.abort(new errors.RequestAbortedError());
      return;
    }
    this.#sent = true;
    this.#listener.onSend();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status >= 200 && !this.#over) this.#listener.onHead(status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over && !this.#listener.onData(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onFailure({ kind: kindOf(error, this.#sent), cause: error });
  }
}

/** Source: https://undici.nodejs.org/api/Errors */
function kindOf(error: Error, sent: boolean): FailureKind {
  const code = "code" in error ? error.code : undefined;
  if (code === "UND_ERR_CONNECT_TIMEOUT") return "connect_timeout";
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") return "timeout";
  if (code === "UND_ERR_HEADERS_OVERFLOW" || error instanceof errors.HTTPParserError) return "invalid";
  return sent ? "broken" : "unreachable";
}
