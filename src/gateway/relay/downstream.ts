import type { ServerResponse } from "node:http";

/** How long a client may take to read what is left before a broken transfer is torn down. */
const BREAK_OFF_MS = 5000;

export interface DownstreamListener {
  /** The client went away before the answer was complete. */
  onLeave(): void;
  /** The client has read what it had been given. */
  onDrain(): void;
  /** Nothing more can be sent: complete, broken off or left. Told once, last. */
  onClose(): void;
}

/** The client's side of a relay: an answer that ends as a whole or visibly breaks. */
export class Downstream {
  readonly #response: ServerResponse;
  #brokenOff = false;

  constructor(response: ServerResponse, listener: DownstreamListener) {
    this.#response = response;
    response.on("drain", () => listener.onDrain());
    // a write that crosses the client's leaving; "close" tells of it
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
  get isBlocked(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** The head leaves with the first bytes of the body, or alone when there are none at hand. */
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void {
    const response = this.#response;
    response.writeHead(status, headers);
    setImmediate(() => {
      if (!response.destroyed && !response.writableEnded) response.flushHeaders();
    });
  }

  /** False when the client is slow to read: wait for `onDrain`. */
  write(parts: readonly Buffer[]): boolean {
    const response = this.#response;
    if (parts.length === 1) return response.write(parts[0]!);
    response.cork();
    for (const part of parts) response.write(part);
    response.uncork();
    // What `write` returned while corked no longer holds: `uncork` may have sent it all and emitted "drain".
    return !response.writableNeedDrain;
  }

  end(last?: Buffer): void {
    if (last === undefined) this.#response.end();
    else this.#response.end(last);
  }

  /**
   * Ends the connection instead of the answer, after `last` has gone out: the client sees an incomplete transfer.
   * Tearing down in the tick of the write would lose `last`.
   */
  breakOff(last?: Buffer): void {
    const response = this.#response;
    if (response.destroyed) return;
    this.#brokenOff = true;
    const { socket } = response;
    const tearDown = (): void => {
      // an HTTP/1.0 answer without a length ends with the connection: only a reset tells that it was cut
      if (response.req.httpVersion === "1.0") socket?.resetAndDestroy();
      else socket?.destroySoon();
    };
    const patience = setTimeout(() => socket?.destroy(), BREAK_OFF_MS);
    response.once("close", () => clearTimeout(patience));
    if (last === undefined) setImmediate(tearDown);
    else response.write(last, () => setImmediate(tearDown));
  }
}
