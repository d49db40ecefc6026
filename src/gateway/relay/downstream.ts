import type { ServerResponse } from "node:http";

/** With more unread bytes in front of the client, the upstream waits. */
const MAX_UNREAD_BYTES = 64 * 1024;
const RESUME_BELOW_BYTES = MAX_UNREAD_BYTES / 2;

export interface DownstreamListener {
  /** The client left before the response was complete. */
  onLeave(): void;
  /** The client has read enough for the upstream to continue. */
  onDrain(): void;
  /** The client is connected, but has read nothing for `stallMs`. */
  onStall(): void;
  /** Nothing more can be sent: the response is complete or aborted, or the client left. Called once, last. */
  onClose(): void;
}

/**
 * The client's side of a relay: a response that ends complete or visibly breaks. It alone decides when the upstream must
 * wait and how long a client may stall, from one number: the bytes that the connection has not taken.
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
    // a write while the client leaves; "close" follows
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

  /** The client has not read what it was sent before. */
  get isWaiting(): boolean {
    return this.#waiting;
  }

  /** Sends the head with the first bytes of the body, or alone if there are none yet. */
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
    this.#response.write(bytes, () => this.#took(bytes.length));
  }

  /** Whether the upstream must wait until `onDrain`. */
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
   * Sends `last` and ends the connection instead of the response: the client sees an incomplete transfer. Closing in the
   * tick of the write would lose `last`. A client that stops reading gets `patienceMs`.
   */
  breakOff(last?: Buffer, patienceMs = this.#stallMs): void {
    const response = this.#response;
    if (response.destroyed || this.#brokenOff) return;
    this.#brokenOff = true;
    if (response.writableEnded) {
      response.socket?.destroy();
      return;
    }
    const tearDown = (): void => {
      // an HTTP/1.0 response without a length ends with the connection: only a reset shows that it was cut
      if (response.req.httpVersion === "1.0") response.socket?.resetAndDestroy();
      else response.socket?.destroySoon();
    };
    this.#wait(patienceMs);
    if (last === undefined) setImmediate(tearDown);
    else response.write(last, () => setImmediate(tearDown));
  }

  #took(bytes: number): void {
    this.#unreadBytes -= bytes;
    if (!this.#waiting || this.#brokenOff || this.#unreadBytes > RESUME_BELOW_BYTES) return;
    this.#waiting = false;
    // after the response, the connection's timeout belongs to the server again
    if (!this.#response.writableFinished) this.#response.setTimeout(0);
    this.#listener.onDrain();
  }

  /** The connection's timeout measures time without progress, also within one long write. */
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
