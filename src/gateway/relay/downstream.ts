import type { ServerResponse } from "node:http";

/** Backpressure threshold: the upstream pauses above it. */
const MAX_UNREAD_BYTES = 64 * 1024;
const RESUME_BELOW_BYTES = MAX_UNREAD_BYTES / 2;

export interface DownstreamListener {
  /** The client disconnected before the response was complete. */
  onLeave(): void;
  /** The upstream may resume. */
  onDrain(): void;
  /** The connected client has read nothing for `stallMs`. */
  onStall(): void;
  /** The response completed or was aborted, or the client disconnected. Called once, last. */
  onClose(): void;
}

/**
 * Client side of a relay: a response that either completes or visibly breaks. Backpressure and stall detection use one
 * number, the bytes the connection has not accepted.
 */
export class Downstream {
  readonly #response: ServerResponse;
  readonly #listener: DownstreamListener;
  readonly #stallMs: number;
  #unreadBytes = 0;
  #waiting = false;
  #brokenOff = false;

  constructor(response: ServerResponse, stallMs: number, listener: DownstreamListener) {
    this.#response = response;
    this.#stallMs = stallMs;
    this.#listener = listener;
    response.on("timeout", () => this.#onTimeout());
    // a write to a disconnecting client; "close" follows
    response.on("error", () => undefined);
    // the request's "close" only means that its body has been read
    response.once("close", () => {
      if (!response.writableFinished && !this.#brokenOff) listener.onLeave();
      listener.onClose();
    });
  }

  get hasLeft(): boolean {
    return this.#response.destroyed || this.#response.socket?.destroyed === true;
  }

  /** Backpressure: the client has unread bytes. */
  get isWaiting(): boolean {
    return this.#waiting;
  }

  /** Sends the headers with the first body bytes, or alone if there are none yet. */
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void {
    const response = this.#response;
    response.writeHead(status, headers);
    setImmediate(() => {
      if (!response.destroyed && !response.writableEnded) response.flushHeaders();
    });
  }

  write(bytes: Buffer): void {
    if (this.#response.destroyed) return;
    this.#unreadBytes += bytes.length;
    this.#response.write(bytes, () => this.#onFlushed(bytes.length));
  }

  /** True if the upstream must pause until `onDrain`. */
  mustWait(): boolean {
    if (this.#unreadBytes > MAX_UNREAD_BYTES) this.#wait(this.#stallMs);
    return this.#waiting;
  }

  end(last?: Buffer): void {
    if (last !== undefined) this.write(last);
    this.#response.end();
    if (this.#unreadBytes > 0) this.#wait(this.#stallMs);
  }

  /**
   * Sends `last`, then closes the connection instead of ending the response, so the client sees an incomplete transfer.
   * Closing in the tick of the write would lose `last`. A stalled client gets `patienceMs`.
   */
  breakOff(last?: Buffer, patienceMs = this.#stallMs): void {
    const response = this.#response;
    if (response.destroyed || this.#brokenOff) return;
    this.#brokenOff = true;
    if (response.writableEnded) {
      response.socket?.destroy();
      return;
    }
    const tearDown = (): void => response.socket?.destroySoon();
    this.#wait(patienceMs);
    if (last === undefined) setImmediate(tearDown);
    else response.write(last, () => setImmediate(tearDown));
  }

  #onFlushed(bytes: number): void {
    this.#unreadBytes -= bytes;
    if (!this.#waiting || this.#brokenOff || this.#unreadBytes > RESUME_BELOW_BYTES) return;
    this.#waiting = false;
    // after the response, the server owns the connection's timeout
    if (!this.#response.writableFinished) this.#response.setTimeout(0);
    this.#listener.onDrain();
  }

  /** Starts the stall timer: the connection timeout measures time without progress, also within one long write. */
  #wait(patienceMs: number): void {
    if (this.#waiting && !this.#brokenOff) return;
    this.#waiting = true;
    this.#response.setTimeout(patienceMs);
  }

  #onTimeout(): void {
    if (this.#brokenOff) this.#response.socket?.destroy();
    else if (this.#waiting) this.#listener.onStall();
  }
}
