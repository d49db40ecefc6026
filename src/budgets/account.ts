import { amountsBy, minus, NOTHING, plus, type Amounts, type Limit } from "./budget.ts";
import type { Spent } from "./spent.ts";

/** State of what a reading depends on when it began. */
export interface ReadState {
  readonly change: string;
  readonly beganAtMs: number;
}

/** Recorded usage and holds of one value of a budget in one window. */
export class Account {
  /** Worst case of open requests. */
  held = NOTHING;
  /** Cost of ended requests that the store does not have yet. */
  ended = NOTHING;
  /** Part of the limit that other services may use. */
  reserved = NOTHING;
  /** Number of requests in `held` and `ended`. */
  open = 0;
  readState: ReadState | undefined;
  #read: Spent | undefined;
  /** Cost of requests stored since the last reading began, which it may lack. */
  #stored = NOTHING;
  #storedWhileReading = NOTHING;
  #reading: Promise<void> | undefined;

  /** Recorded usage at the last reading, in which each call counts once; undefined before it. */
  get recorded(): Spent | undefined {
    return this.#read;
  }

  /** Recorded usage, with what has been stored since it was read; undefined before that. May count a call twice. */
  get spent(): Spent | undefined {
    return this.#read && { ...this.#read, ...plus(this.#read, this.#stored) };
  }

  /** True if what was read may lack, or count twice, what requests of this process have used. */
  get isApproximate(): boolean {
    return this.#stored !== NOTHING;
  }

  /** Usage of ended requests that `recorded` may lack. */
  get unread(): Amounts {
    return plus(this.ended, this.#stored);
  }

  /** Usage of this process that the sum being read may lack. */
  get unrecorded(): Amounts {
    return plus(plus(this.held, this.ended), this.#storedWhileReading);
  }

  get reading(): Promise<void> | undefined {
    return this.#reading;
  }

  /** Reads what is spent. Requests stored meanwhile count on top. */
  read(state: ReadState, read: () => Promise<Spent>): Promise<void> {
    this.#storedWhileReading = NOTHING;
    const run = async (): Promise<void> => {
      try {
        this.#read = await read();
        this.#stored = this.#storedWhileReading;
        this.readState = state;
      } finally {
        this.#reading = undefined;
      }
    };
    return (this.#reading = run());
  }

  /** Starts with nothing spent, for what the store cannot have. */
  startEmpty(state: ReadState, spent: Spent): void {
    this.#read ??= spent;
    this.readState ??= state;
  }

  /** Leaves at least this to other services. */
  reserve({ usd, tokens, requests }: Amounts): void {
    const { reserved: old } = this;
    this.reserved = {
      usd: usd > old.usd ? usd : old.usd,
      tokens: Math.max(tokens, old.tokens),
      requests: Math.max(requests, old.requests),
    };
  }

  hold(amounts: Amounts): void {
    this.held = plus(this.held, amounts);
    this.open++;
  }

  /** Replaces a hold by what its request has used, which the store does not have yet. */
  end(hold: Amounts, used: Amounts): void {
    this.held = minus(this.held, hold);
    this.ended = plus(this.ended, used);
  }

  /** Corrects what an ended request has used. */
  correct(before: Amounts, used: Amounts): void {
    this.ended = plus(this.ended, minus(used, before));
  }

  /** Moves the usage of an ended request to what is spent: the store has it now. */
  store(used: Amounts): void {
    this.ended = minus(this.ended, used);
    this.#stored = plus(this.#stored, used);
    if (this.#reading !== undefined) this.#storedWhileReading = plus(this.#storedWhileReading, used);
    this.open--;
  }
}

/** Holds of open requests, and of ended ones as much as fits under the limit: the sum that was read may have them. */
export function heldBeside(
  spent: Amounts,
  { held, ended }: { readonly held: Amounts; readonly ended: Amounts },
  limit: Limit,
): Amounts {
  return amountsBy((unit) => {
    const [open, over, all] = [BigInt(held[unit]), BigInt(ended[unit]), limit[unit]];
    const left = all === null ? over : BigInt(all) - BigInt(spent[unit]) - open;
    if (left <= 0n) return open;
    return open + (left < over ? left : over);
  });
}
