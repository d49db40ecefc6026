import { describe, expect, it } from "vitest";
import { readWholeBody } from "../../../../src/gateway/holds/read-body.ts";

const json = "application/json";
const form = (...parts: readonly string[]): Buffer =>
  Buffer.from(
    `${parts.map((part) => `--b\r\ncontent-disposition: form-data; ${part}\r\n`).join("")}--b--\r\n`,
  );
const ofForm = "multipart/form-data; boundary=b";

describe("readWholeBody", () => {
  it("reads JSON with any content type but a form's", () => {
    const bytes = Buffer.from('{"model":"m","n":2}');
    for (const type of [json, undefined, "text/plain"])
      expect(readWholeBody(bytes, type)).toEqual({ body: { model: "m", n: 2 } });
  });

  it("reads the fields of a form and its length, not its files", () => {
    const bytes = form(
      'name="model"\r\n\r\nwhisper-1',
      `name="file"; filename="f.wav"\r\n\r\n${"a".repeat(2_000)}`,
      'name="include[]"\r\n\r\na',
      'name="include[]"\r\n\r\nb',
    );
    const read = readWholeBody(bytes, ofForm);
    expect(read.formBytes).toBe(bytes.length);
    expect(read.body).toEqual({ model: "whisper-1", include: "b" });
  });

  it.each<[string, Buffer | undefined, string]>([
    ["cannot be decompressed", undefined, json],
    ["is empty", Buffer.alloc(0), json],
    ["is an array", Buffer.from("[]"), json],
    ["is no JSON", Buffer.from("{"), json],
    ["has a byte order mark", Buffer.from('\ufeff{"a":1}'), json],
    ["is not in UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), json],
    ["has another charset", Buffer.from("{}"), "application/json; charset=utf-16"],
    ["has too many values", Buffer.from(`{"a":[${"1,".repeat(150_000)}1]}`), json],
    ["is too deep", Buffer.from(`{"a":${"[".repeat(300)}${"]".repeat(300)}}`), json],
    ["names two models", form('name="model"\r\n\r\na', 'name="model"\r\n\r\nb'), ofForm],
    ["has no boundary", form('name="model"\r\n\r\na'), "multipart/form-data"],
  ])("refuses a body that %s", (_, bytes, type) => {
    expect(() => readWholeBody(bytes, type)).toThrow(
      expect.objectContaining({ code: "bad_request" }) as Error,
    );
  });
});
