import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** What a page may read of an answer, beside its body. */
const EXPOSED = [
  "x-request-id",
  "x-truncated",
  "x-next-page-token",
  "retry-after",
  "www-authenticate",
  "x-sumtree-call-id",
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const PREFLIGHT_SECONDS = 600;

/**
 * Lets pages of these origins call the service from a browser; all others get what they would get without. Keys travel in
 * a header that a page has to set, never in a cookie, so nothing is allowed "with credentials".
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
