import type { Engine } from "../../src/store/engine.ts";
import { interceptStatements } from "./intercept-statements.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How many statements a service runs before it is the other one's turn. */
export type Schedule = readonly number[];

/** Two services on one store, whose statements run in a drawn order. */
export class Interleaving {
  readonly #held: readonly [(() => Promise<void>)[], (() => Promise<void>)[]] = [[], []];
  readonly #isHeld: (name: string) => boolean;
  #areHeld = false;

  /** `isHeld`: selects the statements by name. */
  constructor(isHeld: (name: string) => boolean) {
    this.#isHeld = isHeld;
  }

  /** The engine of one of the services. Like a process of its own, it knows of no writes but those that it reads. */
  engineOf(at: 0 | 1, engine: Engine): Engine {
    return {
      ...interceptStatements(engine, (name, run) => {
        if (!this.#areHeld || !this.#isHeld(name)) return run();
        const { promise, resolve } = Promise.withResolvers<void>();
        const done = promise.then(run);
        this.#held[at].push(async () => {
          resolve();
          await done.then(turn, turn);
        });
        return done;
      }),
      writeCountOf: () => undefined,
    };
  }

  /** Runs a request to each service at once, their statements one after another by turns. */
  async run(requests: readonly (() => Promise<void>)[], schedule: Schedule): Promise<void> {
    this.#areHeld = true;
    const open = new Set(requests);
    const all = Promise.all(requests.map((request) => request().finally(() => open.delete(request))));
    for (let at = 0, left = schedule[0]!; open.size > 0;) {
      if (left === 0) left = schedule[++at % schedule.length]!;
      for (let n = 0; n < 10; n++) await turn();
      const [own, others] = at % 2 === 0 ? this.#held : [this.#held[1], this.#held[0]];
      const next = own.shift() ?? others.shift();
      if (next === undefined) continue;
      left--;
      await next();
    }
    this.#areHeld = false;
    await all;
  }
}
