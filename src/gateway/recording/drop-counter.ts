import type { FastifyBaseLogger } from "fastify";

const LOG_INTERVAL_MS = 10_000;

/** Counts dropped completions and logs them, at most one line per interval. */
export class DropCounter {
  total = 0;
  readonly #logger: FastifyBaseLogger;
  #unlogged = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: FastifyBaseLogger) {
    this.#logger = logger;
  }

  add(count: number, reason: string, err?: unknown): void {
    if (count === 0) return;
    this.total += count;
    this.#unlogged += count;

    this.#timer ??= this.#logAndWait({ reason, err });
  }

  /** Logs drops not yet logged. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unlogged > 0) this.#log({});
  }

  #logAndWait(why: { reason: string; err: unknown }): NodeJS.Timeout {
    this.#log(why);
    return setTimeout(() => this.end(), LOG_INTERVAL_MS).unref();
  }

  #log(why: object): void {
    this.#logger.error(
      { ...why, count: this.#unlogged, dropped: this.total },
      "completions dropped unrecorded",
    );
    this.#unlogged = 0;
  }
}
