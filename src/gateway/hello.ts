import type { FastifyInstance } from "fastify";

/** Claude Code asks its API whether it is there before it asks anything else. It sends no key. */
export function registerHello(app: FastifyInstance): void {
  app.route({
    method: ["GET", "HEAD"],
    url: "/api/hello",
    config: { access: "public" },
    schema: { hide: true },
    handler: async () => ({ message: "hello" }),
  });
}
