import { createHash } from "node:crypto";
import type { Dataset } from "./job.ts";

const NEWLINE = 0x0a;

/** Counts a body as it streams by. A last line without its newline counts. Memory: constant. */
export class BodyCount {
  readonly #hash = createHash("sha256");
  readonly #isPlain: boolean;
  #bytes = 0;
  #newlines = 0;
  #isOpen = false;

  /** `isPlain`: false for a compressed body, whose lines are not counted. */
  constructor(isPlain: boolean) {
    this.#isPlain = isPlain;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) this.#newlines++;
    this.#isOpen = chunk.at(-1) !== NEWLINE;
  }

  /** Counts of the body so far. */
  get seen(): Dataset {
    const lines = this.#isPlain ? this.#newlines + Number(this.#isOpen) : null;
    return { sha256: this.#hash.copy().digest("hex"), bytes: this.#bytes, lines };
  }
}
