import { Readable } from "node:stream";

/**
 * The body of an answer that is made piece by piece; a short one is sent as a whole. Nothing is sent before the first
 * piece is there: until then errors are answers, after that they break the transfer.
 */
export async function bodyOf(pieces: AsyncGenerator<Buffer>): Promise<Buffer | Readable> {
  const first = await pieces.next();
  if (first.done === true) return Buffer.alloc(0);
  const second = await pieces.next();
  if (second.done === true) return first.value;
  return Readable.from(startingWith([first.value, second.value], pieces), { highWaterMark: 1 });
}

async function* startingWith(head: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  yield* rest;
}
