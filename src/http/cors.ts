import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** The response headers that a page may read. */
const EXPOSED = [
  "x-request-id",
  "x-truncated",
  "x-traces-without-root",
  "x-next-page-token",
  "retry-after",
  "www-authenticate",
  "x-sumtree-call-id",
  "x-sumtree-recorded",
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const PREFLIGHT_SECONDS = 600;

/**
 * Lets pages of these origins call the service from a browser. Keys are sent in a header that the page sets, never in a
 * cookie, so no request "with credentials" is allowed.
 */
export async function registerCors(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  const known = new Set(origins);
  const off: FastifyCorsOptions = { origin: false };
  const on: FastifyCorsOptions = {
    origin: [...origins],
    methods: METHODS,
    exposedHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
  };
  await app.register(cors, {
    delegator: ({ headers, method }: FastifyRequest, done) => {
      const isPreflight = headers["access-control-request-method"] !== undefined;
      const applies = known.has(headers.origin ?? "") && (method !== "OPTIONS" || isPreflight);
      done(null, applies ? on : off);
    },
  });
}
