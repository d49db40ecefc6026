import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Engine } from "../clickhouse/engine.ts";
import { pendingMigrations } from "../clickhouse/migrate.ts";
import { isOlder, MIN_SERVER_VERSION } from "../clickhouse/server-version.ts";
import { healthRes } from "./response-schema.ts";

const notReadyRes = z
  .object({ status: z.literal("not ready"), detail: z.string().describe("What is missing") })
  .meta({ id: "NotReadyRes" });

/** `/healthz`: this process. `/readyz`: the store, its version and its migrations. */
export function registerHealth(root: FastifyInstance, engine: Engine): void {
  const app = root.withTypeProvider<ZodTypeProvider>();
  // some probes send HEAD
  const options = { config: { access: "public" }, exposeHeadRoute: true } as const;
  app.get("/healthz", { ...options, schema: { response: { 200: healthRes } } }, async () => ({
    status: "ok" as const,
  }));
  const readyz = { ...options, schema: { response: { 200: healthRes, 503: notReadyRes } } };
  app.get("/readyz", readyz, async (_request, reply) => {
    const problem = await storeProblem(engine);
    if (problem === undefined) return { status: "ok" as const };
    return reply.code(503).header("retry-after", "5").send({ status: "not ready", detail: problem });
  });
}

async function storeProblem(engine: Engine): Promise<string | undefined> {
  try {
    const version = await engine.version();
    if (isOlder(version)) return `ClickHouse is older than ${MIN_SERVER_VERSION}.`;
    const pending = await pendingMigrations(engine);
    return pending.length === 0 ? undefined : "Migrations are missing: run `npm run migrate`.";
  } catch {
    return "The store is not reachable.";
  }
}
