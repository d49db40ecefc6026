import { once } from "node:events";
import type { ServerResponse } from "node:http";

export interface DownstreamListener {
  /** The client disconnected before the response was complete. */
  onLeave(): void;
  /** The connected client has read nothing for `stallMs`. */
  onStall(): void;
}

export type OutHeaders = Record<string, string | string[]>;

/** The client's side of a relay: a response that either completes or visibly breaks. */
export class Downstream {
  /** Resolves when the response is complete or broken off, or the client has disconnected. */
  readonly closed: Promise<void>;
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  #waiting: AbortController | undefined;
  #isBrokenOff = false;

  constructor(response: ServerResponse, stallMs: number, listener: DownstreamListener) {
    this.#response = response;
    this.#stallMs = stallMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    // a write to a disconnecting client; "close" follows
    response.on("error", () => undefined);
    response.on("timeout", () => {
      if (this.#isBrokenOff || response.writableEnded) response.socket?.destroy();
      else if (this.isWaiting) listener.onStall();
    });
    response.once("close", () => {
      if (!response.writableFinished && !this.#isBrokenOff) listener.onLeave();
      resolve();
    });
    if (this.hasLeft) resolve();
  }

  get hasLeft(): boolean {
    return this.#response.destroyed || this.#response.socket?.destroyed === true;
  }

  /** Headers have been written: the status cannot change. */
  get isBegun(): boolean {
    return this.#response.headersSent;
  }

  /** The client has unread bytes. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  head(status: number, headers: OutHeaders): void {
    if (!this.hasLeft) this.#response.writeHead(status, headers);
  }

  /** Sends the headers if no byte of the body has taken them along. */
  flush(): void {
    if (!this.hasLeft && !this.#response.writableEnded) this.#response.flushHeaders();
  }

  /** Sends bytes at the client's pace. Rejects after `giveUp`. */
  async send(parts: readonly Buffer[]): Promise<void> {
    for (const part of joinNeighbours(parts)) if (!this.write(part)) await this.#drained();
  }

  /** Returns false if the client must read first. */
  write(bytes: Buffer): boolean {
    return this.hasLeft || this.#response.write(bytes);
  }

  /** Waits no longer for a client that must read first. */
  giveUp(): void {
    this.#waiting?.abort();
  }

  async #drained(): Promise<void> {
    const { signal } = (this.#waiting = new AbortController());
    this.#response.setTimeout(this.#stallMs);
    await Promise.race([once(this.#response, "drain", { signal }), this.closed]);
    this.#waiting = undefined;
  }

  end(last?: Buffer): void {
    const response = this.#response;
    if (this.hasLeft || this.#isBrokenOff) return;
    response.end(last);
    if (response.writableLength > 0) response.setTimeout(this.#stallMs);
  }

  /**
   * Sends `last`, then closes the connection instead of ending the response, so that the client sees an incomplete transfer.
   * Closing in the tick of the write would lose `last`. A stalled client gets `patienceMs`.
   */
  breakOff(last?: Buffer, patienceMs = this.#stallMs): void {
    const response = this.#response;
    if (this.hasLeft || this.#isBrokenOff) return;
    this.#isBrokenOff = true;
    if (response.writableEnded) {
      response.socket?.destroy();
      return;
    }
    const tearDown = (): void => {
      response.socket?.destroySoon();
    };
    response.setTimeout(patienceMs);
    if (last === undefined) setImmediate(tearDown);
    else response.write(last, () => setImmediate(tearDown));
  }
}

/** Joins buffers that are adjacent in memory, such as events of one read, into one write. */
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
