import { describe, expect, it } from "vitest";
import { mayStream, readModelRequest } from "../../../../src/gateway/recording/model-request.ts";

describe("inputs besides text", () => {
  const data = Buffer.alloc(96_000).toString("base64");
  const image = "https://example.com/a.png";
  it.each([
    [{ messages: [{ content: [{ type: "image_url", image_url: { url: image } }] }] }, 765],
    [{ messages: [{ content: [{ type: "image_url", image_url: { url: image, detail: "low" } }] }] }, 85],
    [{ input: [{ content: [{ type: "input_image", image_url: image, detail: "auto" }] }] }, 765],
    [{ input: [{ type: "x_output", output: { type: "computer_screenshot", image_url: image } }] }, 765],
    [{ messages: [{ content: [{ type: "image", source: { type: "base64", data } }] }] }, 1334],
    [{ messages: [{ content: [{ type: "tool_result", content: [{ type: "image", source: {} }] }] }] }, 1334],
    [{ messages: [{ content: [{ type: "document", source: { type: "base64", data } }] }] }, 1500],
    [{ messages: [{ content: [{ type: "input_audio", input_audio: { data, format: "wav" } }] }] }, 20],
    [{ messages: [{ content: [{ type: "input_audio", input_audio: { data, format: "mp3" } }] }] }, 120],
    [{ messages: [{ content: [{ type: "audio_url", audio_url: { url: image } }] }] }, 600],
  ])("%# is estimated, and its text is not counted twice", (body, tokens) => {
    const of = (request: object) => readModelRequest(Buffer.from(JSON.stringify(request))).promptBytes! / 4;
    expect(of(body)).toBe(tokens);
  });

  it("is proportional to their number", () => {
    const content = Array.from({ length: 20 }, () => ({ type: "image_url", image_url: { url: image } }));
    const body = JSON.stringify({ messages: [{ content: [{ type: "text", text: "Hi!!" }, ...content] }] });
    expect(readModelRequest(Buffer.from(body)).promptBytes).toBe(4 + 20 * 765 * 4);
  });
});

describe("mayStream", () => {
  it.each([
    ['{"model":"m","messages":[]}', false],
    ['{"model":"m","stream":true}', true],
    [String.raw`{"model":"m","str\u0065am":true}`, true],
    [String.raw`{"model":"m","messages":[{"content":"\"str\\eam\""}]}`, false],
  ])("of %s is %s", (body, may) => {
    expect(mayStream(Buffer.from(body))).toBe(may);
  });

  it("is true for every body that is read as a stream", () => {
    for (const key of ["stream", String.raw`\u0073tream`, String.raw`strea\u006D`]) {
      const body = Buffer.from(`{"${key}":true}`);
      expect([readModelRequest(body).stream, mayStream(body)]).toEqual([true, true]);
    }
  });
});
