import type { FastifyInstance } from "fastify";

/** Registers the unauthenticated probe that Claude Code sends before its first request. */
export function registerHello(app: FastifyInstance): void {
  app.route({
    method: ["GET", "HEAD"],
    url: "/api/hello",
    config: { access: "public" },
    schema: { hide: true },
    handler: async () => ({ message: "hello" }),
  });
}
