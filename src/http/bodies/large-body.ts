import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Largest body parsed on the event loop, in about 100 ms; the ingest worker parses larger ones. */
const LARGE_BYTES = 4 * 1024 * 1024;
const LARGE_VALUES = 50_000;
/** A body with many short values is large too, because parsing costs much more than sending. */
const DENSE_VALUES = 10_000;
const DENSE_BYTES = 16;

/** Decompressed body for the ingest worker. */
export class LargeBody {
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes;
  }
}

/** Response of the ingest worker to a request. */
export interface LargeBodyResponse {
  readonly status: number;
  readonly type: string;
  readonly body: Uint8Array;
}

/** Errors: those of the route; service_overloaded. */
export type LargeBodyHandler = (request: FastifyRequest, body: LargeBody) => Promise<LargeBodyResponse>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** True if the handler needs only the body, the key and the writers, so that the ingest worker can run it. */
    largeBodies?: boolean;
  }
}

/** True if the ingest worker parses the body. `values`: JSON values and keys. */
export function isLarge({ routeOptions }: FastifyRequest, bytes: number, values: number): boolean {
  const isDense = values > DENSE_VALUES && bytes < values * DENSE_BYTES;
  return (
    routeOptions.config.largeBodies === true && (isDense || bytes > LARGE_BYTES || values > LARGE_VALUES)
  );
}

/** Joins chunks into a buffer of its own, which can be transferred to a thread. */
export function toLargeBody(chunks: readonly Uint8Array[], length: number): LargeBody {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return new LargeBody(bytes);
}

/** Register it before the routes. */
export function registerLargeBodies(app: FastifyInstance, answer: LargeBodyHandler): void {
  app.addHook("preHandler", async (request: FastifyRequest, reply: FastifyReply) => {
    if (!(request.body instanceof LargeBody)) return;
    const { status, type, body } = await answer(request, request.body);
    await reply.code(status).type(type).send(body);
  });
}
