import type { Held } from "../../shares/fair-share.ts";

/** What comes after a stream's content is short, and comes at once. */
const MAX_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** Reading on, for its usage, a stream whose client has left. Its place stays taken; `onTooLong` says that it must end. */
export class ReadOn {
  readonly #held: Held;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;

  constructor(held: Held, onTooLong: () => void) {
    this.#held = held;
    this.#timer = setTimeout(onTooLong, MAX_MS);
  }

  /** Whether more may follow. */
  take(bytes: number): boolean {
    return (this.#bytes += bytes) <= MAX_BYTES;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#held.release();
  }
}
