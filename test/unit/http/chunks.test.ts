import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliCompress, createBrotliDecompress, createGunzip, createGzip } from "node:zlib";
import fc from "fast-check";
import { expect, test as it } from "vitest";
import { bodyOf, RESPONSE_CHUNK_BYTES, ChunkBuffers } from "../../../src/http/chunks.ts";
import { runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

/** Each piece is filled with a number of its own, which whoever reads it too late finds changed. */
async function* piecesOf(sizes: readonly number[], buffers: ChunkBuffers): AsyncGenerator<Buffer> {
  for (const [index, size] of sizes.entries()) {
    if (buffers.current.length < size) buffers.grow(0, size);
    buffers.current.fill(index % 251, 0, size);
    yield buffers.take(size);
  }
}

function expected(sizes: readonly number[]): Buffer {
  return Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index % 251)));
}

/** Takes a chunk, and lets other things happen before it takes the next one. */
function slowReader(into: Buffer[], turns: number): Writable {
  return new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done): void {
      setTimeout(() => {
        into.push(Buffer.from(chunk));
        done();
      }, turns);
    },
  });
}

const CODINGS = {
  identity: [],
  gzip: [createGzip, createGunzip],
  br: [createBrotliCompress, createBrotliDecompress],
} as const;

it.each(Object.keys(CODINGS) as (keyof typeof CODINGS)[])(
  "chunks of any size arrive unchanged at a slow reader: %s",
  async (coding) => {
    const sizes = fc.array(fc.integer({ min: RESPONSE_CHUNK_BYTES, max: RESPONSE_CHUNK_BYTES + 70_000 }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 0, max: 2 }), async (lengths, turns) => {
        const buffers = new ChunkBuffers();
        const body = await bodyOf(piecesOf(lengths, buffers));
        const read: Buffer[] = [];
        const through = CODINGS[coding].map((make) => make());
        const source = Buffer.isBuffer(body) ? Readable.from([body], { objectMode: true }) : body;
        await pipeline([source, ...through, slowReader(read, turns)]);
        expect(Buffer.concat(read).equals(expected(lengths))).toBe(true);
      }),
      { numRuns: runs(4, 100), seed: chosenSeed() },
    );
  },
);

it("a chunk is valid until the fourth one after it", () => {
  const buffers = new ChunkBuffers();
  const pieces = ["a", "b", "c", "d", "e"].map((letter) => {
    buffers.current.write(letter);
    return buffers.take(1);
  });
  expect(pieces.slice(1).map(String)).toEqual(["b", "c", "d", "e"]);
  expect(buffers.current.buffer).toBe(pieces[1]!.buffer);
});
