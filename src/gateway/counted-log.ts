import type { Clock } from "../shared/clock.ts";

type Log = (count: number) => void;

const INTERVAL_MS = 60_000;

/** Logs what may happen often: the first time at once, then with its number, once a minute. */
export class CountedLog {
  readonly #clock: Clock;
  #unlogged = 0;
  #nextMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(count: number, log: Log): void {
    this.#unlogged += count;
    if (this.#clock.now() >= this.#nextMs) this.flush(log);
  }

  /** Logs what has not been logged yet. */
  flush(log: Log): void {
    if (this.#unlogged === 0) return;
    log(this.#unlogged);
    this.#unlogged = 0;
    this.#nextMs = this.#clock.now() + INTERVAL_MS;
  }
}
