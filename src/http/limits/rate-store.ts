import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from "@fastify/rate-limit";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../shared/clock.ts";

interface Window {
  count: number;
  readonly endsAtMs: number;
}

/** Maximum number of counted keys; a new one replaces the least recently counted. */
const MAX_KEYS = 5000;

/**
 * Store for `@fastify/rate-limit` on a monotonic clock: with the library's, setting the wall clock back by an hour would lock
 * clients out for an hour. Memory: `MAX_KEYS` windows per limit.
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
