import type { FastifyInstance } from "fastify";
import type { Engine } from "../clickhouse/engine.ts";
import { pendingMigrations } from "../clickhouse/migrate.ts";
import { isOlder, MIN_SERVER_VERSION } from "../clickhouse/server-version.ts";

/** `/healthz`: this process. `/readyz`: the store, its version and its migrations. */
export function registerHealth(app: FastifyInstance, engine: Engine): void {
  // some probes send HEAD
  const options = { config: { access: "public" }, exposeHeadRoute: true } as const;
  app.get("/healthz", options, async () => ({ status: "ok" }));
  app.get("/readyz", options, async (_request, reply) => {
    const problem = await storeProblem(engine);
    if (problem === undefined) return { status: "ok" };
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
