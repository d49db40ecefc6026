import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from "@fastify/rate-limit";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../shared/clock.ts";

interface Window {
  count: number;
  readonly endsAtMs: number;
}

/** Keys counted at a time. A new one replaces the key counted longest ago. */
const MAX_KEYS = 5000;

/**
 * The store of `@fastify/rate-limit`. The library's own reads the wall clock: setting it back by an hour would lock a
 * client out for an hour. Memory: `MAX_KEYS` windows for each limit.
 */
export function rateStoreOn(steady: Clock): FastifyRateLimitStoreCtor {
  return class RateStore implements FastifyRateLimitStore {
    readonly #windows = new LRUCache<string, Window>({ max: MAX_KEYS });

    incr(...[key, done, windowMs]: Parameters<FastifyRateLimitStore["incr"]>): void {
      const window = this.#open(key) ?? { count: 0, endsAtMs: steady.now() + windowMs };
      window.count++;
      this.#windows.set(key, window);
      done(null, responseOf(window));
    }

    /** Reads the count without increasing it; missing from the library's types. */
    read(...[key, done]: Parameters<FastifyRateLimitStore["incr"]>): void {
      done(null, responseOf(this.#open(key)));
    }

    child(): FastifyRateLimitStore {
      return new RateStore();
    }

    #open(key: string): Window | undefined {
      const window = this.#windows.peek(key);
      return window !== undefined && window.endsAtMs > steady.now() ? window : undefined;
    }
  };

  function responseOf(window: Window | undefined): { current: number; ttl: number } {
    return window === undefined
      ? { current: 0, ttl: 0 }
      : { current: window.count, ttl: window.endsAtMs - steady.now() };
  }
}
