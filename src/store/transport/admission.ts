import type { LimitProfile } from "../limits.ts";
import { StorageError } from "../storage-error.ts";

export interface AdmissionOptions {
  /** Statements that run at a time. */
  readonly maxRunning: number;
  /** How many of them may be long ones, so that short ones always find a place. */
  readonly maxHeavy: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

export interface Admission {
  /**
   * Waits for a place; resolves with the function that gives it back. Errors: `StorageError` "overloaded" when too
   * many wait or it took too long, "aborted" when the signal says so.
   */
  enter(profile: LimitProfile, name: string, signal?: AbortSignal): Promise<() => void>;
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly heavy: boolean;
  readonly admit: () => void;
}

const heavyProfiles: Readonly<Record<LimitProfile, boolean>> = {
  interactive: false,
  ingest: false,
  heavy: true,
  maintenance: true,
};

/** Limits the statements that run at a time. First come, first served, except that long ones leave room for short ones. */
export function createAdmission(options: AdmissionOptions): Admission {
  const waiting = new Set<Waiting>();
  const idlers: (() => void)[] = [];
  let running = 0;
  let runningHeavy = 0;

  const hasRoom = (heavy: boolean): boolean =>
    running < options.maxRunning && (!heavy || runningHeavy < options.maxHeavy);
  const take = (heavy: boolean): (() => void) => {
    running++;
    if (heavy) runningHeavy++;
    return () => {
      running--;
      if (heavy) runningHeavy--;
      for (const one of waiting) if (hasRoom(one.heavy)) one.admit();
      if (running === 0) for (const idler of idlers.splice(0)) idler();
    };
  };
  const wait = (heavy: boolean, name: string, signal: AbortSignal | undefined): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const leave = (): void => {
      waiting.delete(one);
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    };
    const refuse = (kind: "overloaded" | "aborted"): void => {
      leave();
      reject(new StorageError(kind, name, undefined, "waited for a place"));
    };
    const giveUp = (): void => refuse("aborted");
    const timer = setTimeout(() => refuse("overloaded"), options.maxWaitMs);
    const one: Waiting = {
      heavy,
      admit: () => {
        leave();
        resolve(take(heavy));
      },
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    waiting.add(one);
    return promise;
  };

  return {
    async enter(profile, name, signal) {
      const heavy = heavyProfiles[profile];
      if (signal?.aborted === true) throw new StorageError("aborted", name, undefined, "not started");
      if (hasRoom(heavy)) return take(heavy);
      if (waiting.size >= options.maxWaiting) {
        throw new StorageError("overloaded", name, undefined, "too many statements wait");
      }
      return wait(heavy, name, signal);
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
  };
}
