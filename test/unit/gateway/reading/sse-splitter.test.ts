import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseSplitter, type StreamChunk } from "../../../../src/gateway/reading/sse-splitter.ts";
import { splitAt } from "../../../helpers/random-splits.ts";

const EVENTS = [
  "data: a\n\n",
  "data: ä🌲\r\n\r\n",
  ": note\n\n",
  "event: x\ndata: 1\ndata: 2\n\n",
  "id: 7\rdata: z\r\r",
];

function push(chunks: readonly Buffer[], maxHeldBytes = 1024): { pieces: StreamChunk[]; rest: Buffer } {
  const splitter = new SseSplitter(maxHeldBytes);
  const pieces = chunks.flatMap((chunk) => splitter.push(chunk));
  return { pieces, rest: splitter.rest() };
}

describe("SseSplitter", () => {
  it("ends an event at its blank line, for any line endings", () => {
    for (const event of EVENTS) {
      const { pieces, rest } = push([Buffer.from(`${event}data: next`)]);
      expect(pieces.map(({ bytes }) => bytes.toString())).toEqual([event]);
      expect(rest.toString()).toBe("data: next");
    }
  });

  it("keeps all bytes and finds the same events, for any chunks", () => {
    const stream = fc.array(fc.constantFrom(...EVENTS), { maxLength: 12 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 40 }), (events, cuts) => {
        const bytes = Buffer.from(events.join(""));
        const { pieces, rest } = push(splitAt(bytes, cuts));
        expect(Buffer.concat([...pieces.map((piece) => piece.bytes), rest])).toEqual(bytes);
        const seen = [...pieces.map((piece) => piece.bytes.toString()), rest.toString()].filter(
          (text) => text !== "",
        );
        expect(seen.map((text) => text.replace(/^\n/, ""))).toEqual(events);
      }),
    );
  });

  it("buffers an incomplete event up to its limit", () => {
    const splitter = new SseSplitter(16);
    expect(splitter.push(Buffer.from("data: 12345"))).toEqual([]);
    expect(splitter.inOversizeEvent).toBe(false);
    const [part] = splitter.push(Buffer.from("6789012345"));
    expect(part).toEqual({ bytes: Buffer.from("data: 123456789012345"), whole: false, ends: false });
    expect(splitter.inOversizeEvent).toBe(true);
    const pieces = splitter.push(Buffer.from("end\n\ndata: b\n\n"));
    expect(pieces).toEqual([
      { bytes: Buffer.from("end\n\n"), whole: false, ends: true },
      { bytes: Buffer.from("data: b\n\n"), whole: true, ends: true },
    ]);
    expect(splitter.inOversizeEvent).toBe(false);
  });
});
