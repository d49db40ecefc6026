import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { release } from "../shared/buffers.ts";
import { runAsTenant, currentTenant } from "../fairness/tenant.ts";

/** Shorter responses are sent whole. */
export const MIN_STREAMED_BYTES = 2 ** 20;
/** Chunks that stay valid besides the one being written: a piped stream buffers one and sends another. */
const KEPT = 3;
/** Size of chunks: all of them stay valid until `bodyOf` has collected enough to stream. */
export const RESPONSE_CHUNK_BYTES = MIN_STREAMED_BYTES / (KEPT + 1);
const FIRST_BYTES = 4096;

/** Content type of newline-delimited JSON. */
export const NDJSON_TYPE = "application/x-ndjson; charset=utf-8";

/**
 * Ring of buffers for a response built in chunks. A chunk stays valid until the fourth `take` after it, which is as long as
 * `bodyOf` and a piped stream, compressed or not, use it.
 */
export class ChunkBuffers {
  private readonly taken: Buffer[] = [];
  private bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);

  /** Buffer to write to. Valid until the next call of `grow` or `take`. */
  get current(): Buffer {
    return this.bytes;
  }

  /** Grows the buffer to `size` bytes, of which the first `used` are written. */
  grow(used: number, size: number): Buffer {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, size));
    larger.set(this.bytes.subarray(0, used));
    release(this.bytes);
    this.bytes = larger;
    return larger;
  }

  /** Returns the `used` bytes written so far; `current` is another buffer afterwards. */
  take(used: number): Buffer {
    const chunk = this.bytes.subarray(0, used);
    this.taken.push(this.bytes);
    const oldest = this.taken.length > KEPT ? this.taken.shift() : undefined;
    this.bytes = oldest ?? Buffer.allocUnsafeSlow(this.bytes.length);
    return chunk;
  }

  /** Releases the memory. Call it once every piece has been sent. */
  release(): void {
    release(this.bytes, ...this.taken.splice(0));
  }
}

/**
 * Returns a body built in chunks: a buffer if it is short, else a stream. Until it is long enough to stream, an error becomes
 * an error response; afterwards it breaks the transfer.
 */
export async function bodyOf(chunks: AsyncGenerator<Buffer>): Promise<Buffer | Readable> {
  const head: Buffer[] = [];
  for (let bytes = 0; bytes < MIN_STREAMED_BYTES; bytes += head.at(-1)!.length) {
    const next = await chunks.next();
    if (next.done === true) return head.length === 1 ? head[0]! : Buffer.concat(head);
    head.push(next.value);
  }
  return Readable.from(startingWith(head, chunks), { highWaterMark: 1 });
}

/** Yields the first chunks, then the rest on behalf of the tenant that requested it, because the socket pulls them. */
function startingWith(head: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncIterable<Buffer> {
  const tenant = currentTenant();
  const first = head.values();
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const given = first.next();
        return given.done === true ? runAsTenant(tenant, () => rest.next()) : given;
      },
      return: () => rest.return(undefined),
    }),
  };
}

export async function sendChunks(
  reply: FastifyReply,
  type: string,
  chunks: AsyncGenerator<Buffer>,
): Promise<FastifyReply> {
  return reply.type(type).send(await bodyOf(chunks));
}
