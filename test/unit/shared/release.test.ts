import { expect, test } from "vitest";
import { release } from "../../../src/shared/buffers.ts";

test("bytes with memory of their own are empty afterwards", () => {
  const bytes = Buffer.allocUnsafeSlow(1024 * 1024);
  release(bytes);
  expect(bytes).toHaveLength(0);
});

test("bytes that share their memory stay as they are", () => {
  const whole = Buffer.from(new ArrayBuffer(8)).fill("a");
  release(whole.subarray(2, 6));
  expect(whole.toString()).toBe("aaaaaaaa");
});
