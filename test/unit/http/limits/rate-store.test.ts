import { describe, expect, it } from "vitest";
import { rateStoreOn } from "../../../../src/http/limits/rate-store.ts";

const WINDOW_MS = 60_000;

function startStore() {
  let nowMs = 5;
  const store = new (rateStoreOn({ now: () => nowMs }))({});
  const count = (key: string, on = store): { current: number; ttl: number } => {
    let told;
    on.incr(key, (_error, result) => (told = result), WINDOW_MS, 1);
    return told!;
  };
  return { store, count, wait: (ms: number) => (nowMs += ms) };
}

describe("the store of rate limits", () => {
  it("counts each key for a window that begins with its first request", () => {
    const { count, wait } = startStore();
    expect(count("a")).toEqual({ current: 1, ttl: WINDOW_MS });
    wait(WINDOW_MS - 1);
    expect(count("a")).toEqual({ current: 2, ttl: 1 });
    expect(count("b")).toEqual({ current: 1, ttl: WINDOW_MS });
    wait(1);
    expect(count("a")).toEqual({ current: 1, ttl: WINDOW_MS });
  });

  it("evicts the least recently counted key above its limit", () => {
    const { count } = startStore();
    for (let n = 0; n < 5000; n++) count(`key ${n}`);
    expect(count("key 0").current).toBe(2);
    count("one more");
    expect(count("key 0").current).toBe(3);
    expect(count("key 1").current).toBe(1);
  });

  it("counts separately for another limit", () => {
    const { store, count } = startStore();
    count("a");
    expect(count("a", store.child({ path: "", prefix: "" } as never)).current).toBe(1);
  });
});
