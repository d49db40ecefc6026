import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Response headers readable by pages. */
const EXPOSED = [
  "x-request-id",
  "x-truncated",
  "x-next-page-token",
  "retry-after",
  "www-authenticate",
  "x-sumtree-call-id",
  "x-sumtree-recorded",
  "x-sumtree-budget-remaining",
  "x-sumtree-budget-reset",
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const PREFLIGHT_SECONDS = 600;

/** Allows calls from pages of these origins, without credentials: a page sends the key in a header, never in a cookie. */
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
