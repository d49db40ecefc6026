import type { Clock } from "../shared/clock.ts";
import type { Answer } from "./course.ts";

/** Reads a path of the training service with the operator's credential; bounded in time and size. Never rejects. */
export type ReadUpstream = (path: string) => Promise<Answer>;

const PER_SECOND = 4;

/** Reads of the training service, of which few may begin within a second. */
export class BoundedReads {
  readonly #steady: Clock;
  #read: ReadUpstream | undefined;
  /** When the last ones began. */
  readonly #begun: number[] = [];

  constructor(steady: Clock) {
    this.#steady = steady;
  }

  /** Without a call of this, nothing is read. */
  connect(read: ReadUpstream): void {
    this.#read = read;
  }

  /** How many reads may begin now. */
  get free(): number {
    if (this.#read === undefined) return 0;
    const now = this.#steady.now();
    while (this.#begun.length > 0 && now - this.#begun[0]! >= 1000) this.#begun.shift();
    return PER_SECOND - this.#begun.length;
  }

  /** Returns undefined if none may begin now. */
  begin(path: string): Promise<Answer> | undefined {
    if (this.free === 0) return undefined;
    this.#begun.push(this.#steady.now());
    return this.#read!(path);
  }
}
