import type { ServerResponse } from "node:http";

/** More than this may not lie unread in front of the client: the upstream waits. */
const MAX_UNREAD_BYTES = 64 * 1024;
const RESUME_BELOW_BYTES = MAX_UNREAD_BYTES / 2;

export interface DownstreamListener {
  /** The client went away before the answer was complete. */
  onLeave(): void;
  /** The client has read enough for the upstream to go on. */
  onDrain(): void;
  /** The client is there, but has taken nothing of what was sent to it for `stallMs`. */
  onStall(): void;
  /** Nothing more can be sent: complete, broken off or left. Called once, last. */
  onClose(): void;
}

/**
 * The client's side of a relay: an answer that ends as a whole or visibly breaks. It alone decides when the upstream
 * has to wait and how long a client may stand still, from one number: the bytes that the connection has not taken.
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
    // a write that crosses the client's leaving; "close" follows
    response.on("error", () => undefined);
    // not the request's "close", which only says that its body has been read
    response.once("close", () => {
      if (!response.writableFinished && !this.#brokenOff) listener.onLeave();
      listener.onClose();
    });
  }

  get hasLeft(): boolean {
    return this.#response.destroyed || this.#response.socket?.destroyed === true;
  }

  /** The client has not read yet what it was given before. */
  get isWaiting(): boolean {
    return this.#waiting;
  }

  /** The head leaves with the first bytes of the body, or alone when there are none at hand. */
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void {
    const response = this.#response;
    response.writeHead(status, headers);
    setImmediate(() => {
      if (!response.destroyed && !response.writableEnded) response.flushHeaders();
    });
  }

  write(bytes: Buffer): void {
    this.#unreadBytes += bytes.length;
    this.#response.write(bytes, () => this.#took(bytes.length));
  }

  /** Whether the upstream has to wait for the client, from now on until `onDrain`. */
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
   * Ends the connection instead of the answer, after `last` has gone out: the client sees an incomplete transfer.
   * Tearing down in the tick of the write would lose `last`. A client that stops reading has `patienceMs`.
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
      // an HTTP/1.0 answer without a length ends with the connection: only a reset shows that it was cut
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
    // once the answer is out, the connection's timeout is the server's again
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
