import type { Clock } from "../../shared/clock.ts";

export type CircuitState = "closed" | "half_open" | "open";

export interface CircuitOptions {
  /** Connection failures in a row that open it. */
  readonly failures: number;
  readonly openMs: number;
}

/**
 * Spares an upstream that can not be reached, and the clients the wait. Only failed connections count: an answer,
 * whatever its status, closes the circuit. Half open, requests pass again, and the first failure opens it anew.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  readonly #clock: Clock;
  #failures = 0;
  #openUntilMs = 0;

  constructor(options: CircuitOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  get state(): CircuitState {
    if (this.#failures < this.#options.failures) return "closed";
    return this.#clock.now() < this.#openUntilMs ? "open" : "half_open";
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures++;
    if (this.#failures >= this.#options.failures)
      this.#openUntilMs = this.#clock.now() + this.#options.openMs;
  }
}
