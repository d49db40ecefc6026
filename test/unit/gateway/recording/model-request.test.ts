import { describe, expect, it } from "vitest";
import { mayStream, readModelRequest } from "../../../../src/gateway/recording/model-request.ts";

describe("mayStream", () => {
  it.each([
    ['{"model":"m","messages":[]}', false],
    ['{"model":"m","stream":true}', true],
    [String.raw`{"model":"m","str\u0065am":true}`, true],
    [String.raw`{"model":"m","messages":[{"content":"\"str\\eam\""}]}`, false],
  ])("of %s is %s", (body, may) => {
    expect(mayStream(Buffer.from(body))).toBe(may);
  });

  it("is true of every body that is read as a stream", () => {
    for (const key of ["stream", String.raw`\u0073tream`, String.raw`strea\u006D`]) {
      const body = Buffer.from(`{"${key}":true}`);
      expect([readModelRequest(body).stream, mayStream(body)]).toEqual([true, true]);
    }
  });
});
