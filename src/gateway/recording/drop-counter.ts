import type { FastifyBaseLogger } from "fastify";

const LOG_INTERVAL_MS = 10_000;

/** Counts completions that are not recorded. The log tells each of them, in one line for all of an interval. */
export class DropCounter {
  total = 0;
  readonly #logger: FastifyBaseLogger;
  #untold = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: FastifyBaseLogger) {
    this.#logger = logger;
  }

  add(count: number, reason: string, err?: unknown): void {
    if (count === 0) return;
    this.total += count;
    this.#untold += count;

    this.#timer ??= this.#tell({ reason, err });
  }

  /** Logs what is not logged yet. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#untold > 0) this.#log({});
  }

  #tell(why: { reason: string; err: unknown }): NodeJS.Timeout {
    this.#log(why);
    return setTimeout(() => this.end(), LOG_INTERVAL_MS).unref();
  }

  #log(why: object): void {
    this.#logger.error({ ...why, count: this.#untold, dropped: this.total }, "completions were not recorded");
    this.#untold = 0;
  }
}
