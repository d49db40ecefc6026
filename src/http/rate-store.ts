import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from "@fastify/rate-limit";
import { LRUCache } from "lru-cache";
import type { Clock } from "../shared/clock.ts";

interface Window {
  count: number;
  readonly endsAtMs: number;
}

/** Keys counted at a time. A new one takes the place of the key that was counted longest ago. */
const MAX_KEYS = 5000;

/**
 * Where `@fastify/rate-limit` counts. Its own store reads the time of day: set back by an hour, that shuts a client out
 * for an hour. Memory: `MAX_KEYS` windows for each limit.
 */
export function rateStoreOn(steady: Clock): FastifyRateLimitStoreCtor {
  return class RateStore implements FastifyRateLimitStore {
    readonly #windows = new LRUCache<string, Window>({ max: MAX_KEYS });

    incr(...[key, done, windowMs]: Parameters<FastifyRateLimitStore["incr"]>): void {
      const window = this.#open(key) ?? { count: 0, endsAtMs: steady.now() + windowMs };
      window.count++;
      this.#windows.set(key, window);
      done(null, told(window));
    }

    /** The same without counting; the library's types leave it out. */
    read(...[key, done]: Parameters<FastifyRateLimitStore["incr"]>): void {
      done(null, told(this.#open(key)));
    }

    child(): FastifyRateLimitStore {
      return new RateStore();
    }

    #open(key: string): Window | undefined {
      const window = this.#windows.peek(key);
      return window !== undefined && window.endsAtMs > steady.now() ? window : undefined;
    }
  };

  function told(window: Window | undefined): { current: number; ttl: number } {
    return window === undefined
      ? { current: 0, ttl: 0 }
      : { current: window.count, ttl: window.endsAtMs - steady.now() };
  }
}
