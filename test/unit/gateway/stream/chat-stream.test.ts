import { expect, it } from "vitest";
import { ChatStream } from "../../../../src/gateway/stream/chat-stream.ts";

it("a stream ends at its end marker", () => {
  const stream = new ChatStream({ hideUsage: false, onEvent: undefined });
  const passed = stream.push(Buffer.from("data: [DONE]\n\ndata: more\n\n"));
  expect(Buffer.concat([...passed, ...stream.finish()]).toString()).toBe("data: [DONE]\n\n");
});
