import { expect, test } from "vitest";
import { release } from "../../../src/shared/buffers.ts";

test("a buffer with its own memory is empty afterwards", () => {
  const bytes = Buffer.allocUnsafeSlow(1024 * 1024);
  release(bytes);
  expect(bytes).toHaveLength(0);
});

test("a buffer that shares its memory is kept", () => {
  const whole = Buffer.from(new ArrayBuffer(8)).fill("a");
  release(whole.subarray(2, 6));
  expect(whole.toString()).toBe("aaaaaaaa");
});
