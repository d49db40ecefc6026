import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../../../http/auth/guard.ts";
import type { Engine } from "../../../store/engine.ts";
import { NDJSON_TYPE, RESPONSE_CHUNK_BYTES, sendChunks } from "../../../http/chunks.ts";
import { abortOnClose } from "../../../http/when-closed.ts";
import { LINE_NAMES } from "./schema.ts";
import { schemas } from "./route-schemas.ts";
import { readSizes, readTraceLines } from "./store.ts";

export interface TracesDeps {
  readonly engine: Engine;
  /** Maximum calls per response. */
  readonly maxTraceCalls: number;
}

const HEAD = Buffer.from(`${JSON.stringify(LINE_NAMES)}\n`);
const config = { access: readAccess, tag: "calls" };

/** Registers the routes that list and count the calls of traces. */
export async function tracesRoutes(root: FastifyInstance, deps: TracesDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { engine, maxTraceCalls } = deps;

  app.post("/trace/calls", { config, schema: schemas.traceCalls }, async (request, reply) => {
    const { project_id, trace_id: traceId } = request.body;
    const trace = { project: request.grant.project(project_id), traceId };
    const options = { maxCalls: maxTraceCalls, signal: abortOnClose(reply) };
    return sendChunks(reply, NDJSON_TYPE, inChunks(readTraceLines(engine, trace, options)));
  });

  app.post("/trace/sizes", { config, schema: schemas.traceSizes }, async (request, reply) => {
    const { project_id, trace_ids: traceIds } = request.body;
    const traces = { project: request.grant.project(project_id), traceIds };
    return { sizes: await readSizes(engine, traces, abortOnClose(reply)) };
  });
}

async function* inChunks(pages: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield HEAD;
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += RESPONSE_CHUNK_BYTES)
      yield page.subarray(at, at + RESPONSE_CHUNK_BYTES);
  }
}
