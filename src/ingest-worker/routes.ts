import Fastify, { type FastifyError, type FastifyRequest, type RequestPayload } from "fastify";
import { objectRoutes } from "../content/object-routes.ts";
import { tableRoutes } from "../content/table-routes.ts";
import { feedbackRoutes } from "../feedback/routes.ts";
import { grantOf, type Grant } from "../http/auth/grant.ts";
import { registerJsonBody } from "../http/json-body.ts";
import { registerValidation } from "../http/schemas/validation.ts";
import { toAppError } from "../http/errors.ts";
import { otlpRoutes } from "../ingest/otlp/routes.ts";
import { ingestRoutes } from "../ingest/routes.ts";
import type { FromWorker, LargeRequest, WorkerSettings } from "./messages.ts";
import type { RemoteWriters } from "./remote-writers.ts";

type WithoutJob<Message> = Message extends unknown ? Omit<Message, "job"> : never;
type Reply = WithoutJob<Exclude<FromWorker, { kind: "write" }>>;

const JOB = "x-job";

/** Stand-in for dependencies unused by these routes; throws on access. */
const absent = new Proxy(
  {},
  {
    get(_target, name) {
      throw new Error(`not available in the ingest worker: ${String(name)}`);
    },
  },
) as never;

/** Serves requests with the unchanged large-body routes and remote writers. */
export async function createRoutes(
  { bodyLimitBytes }: WorkerSettings,
  writers: RemoteWriters,
): Promise<(request: LargeRequest) => Promise<Reply>> {
  const grants = new Map<string, Grant>();
  const errors = new Map<string, unknown>();
  let jobs = 0;
  const app = Fastify({ logger: false, bodyLimit: bodyLimitBytes });
  app.decorateRequest("grant", null as unknown as Grant);
  app.addHook("onRequest", async (request) => {
    request.grant = grants.get(jobOf(request))!;
  });
  app.decorate("bodies", {
    read,
    readJson: read,
    failure: () => Promise.reject(new Error("forms are not read here")),
    // counted in the main thread
    hold: () => undefined,
  });
  registerJsonBody(app);
  registerValidation(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    errors.set(jobOf(request), error);
    return reply.code(500).send();
  });
  const deps = { engine: absent, clock: writers.clock, bodyLimitBytes };
  await app.register(ingestRoutes, {
    ...deps,
    writer: writers.calls,
    traces: absent,
    requestErasure: () => absent,
  });
  await app.register(otlpRoutes, { writer: writers.calls, bodyLimitBytes });
  await app.register(feedbackRoutes, { ...deps, writer: writers.feedback });
  objectRoutes(app, { ...deps, writer: writers.content });
  tableRoutes(app, { ...deps, writer: writers.content });
  await app.ready();

  return async ({ url, headers, body, key }) => {
    const job = String(jobs++);
    grants.set(job, grantOf({ ...key, secretHash: "" }));
    try {
      const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const response = await app.inject({
        method: "POST",
        url,
        headers: { ...headers, [JOB]: job },
        payload,
      });
      if (errors.has(job)) return rejectionOf(errors.get(job));
      const type = String(response.headers["content-type"]);
      return {
        kind: "responded",
        response: { status: response.statusCode, type, body: response.rawPayload },
      };
    } finally {
      grants.delete(job);
      errors.delete(job);
    }
  };
}

function rejectionOf(error: unknown): Reply {
  const known = toAppError(error);
  if (known === undefined) return { kind: "broken", error };
  const { code, message, issues, retryAfterSeconds } = known;
  return { kind: "rejected", rejection: { code, message, issues, retryAfterSeconds } };
}

function jobOf({ headers }: FastifyRequest): string {
  return String(headers[JOB]);
}

async function read(_request: FastifyRequest, payload: RequestPayload): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of payload) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
