import { Readable } from "node:stream";

/** Shorter answers are sent as a whole: they are not among the streams that slow clients can keep open. */
export const MIN_STREAMED_BYTES = 2 ** 20;

/**
 * The body of an answer that is made piece by piece. Nothing is sent before it is complete or long enough to be streamed:
 * until then errors are answers, after that they break the transfer.
 */
export async function bodyOf(pieces: AsyncGenerator<Buffer>): Promise<Buffer | Readable> {
  const head: Buffer[] = [];
  for (let bytes = 0; bytes < MIN_STREAMED_BYTES; bytes += head.at(-1)!.length) {
    const next = await pieces.next();
    if (next.done === true) return head.length === 1 ? head[0]! : Buffer.concat(head);
    head.push(next.value);
  }
  return Readable.from(startingWith(head, pieces), { highWaterMark: 1 });
}

async function* startingWith(head: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  yield* rest;
}
