import type { FastifyInstance } from "fastify";
import type { Engine } from "../clickhouse/engine.ts";
import { pendingMigrations } from "../clickhouse/migrate.ts";

/** Mid-stream failures are reliably seen from this server version on. Source: docs/decisions/0004. */
export const MIN_SERVER_VERSION = "25.11";

/** `/healthz`: this process. `/readyz`: the store, its version and its migrations. */
export function registerHealth(app: FastifyInstance, engine: Engine): void {
  const config = { access: "public" } as const;
  app.get("/healthz", { config }, async () => ({ status: "ok" }));
  app.get("/readyz", { config }, async (_request, reply) => {
    const problem = await storeProblem(engine);
    if (problem === undefined) return { status: "ok" };
    return reply.code(503).header("retry-after", "5").send({ status: "not ready", detail: problem });
  });
}

async function storeProblem(engine: Engine): Promise<string | undefined> {
  try {
    const version = await engine.version();
    if (isOlder(version, MIN_SERVER_VERSION)) return `ClickHouse is older than ${MIN_SERVER_VERSION}.`;
    const pending = await pendingMigrations(engine);
    return pending.length === 0 ? undefined : "Migrations are missing: run `npm run migrate`.";
  } catch {
    return "The store is not reachable.";
  }
}

export function isOlder(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [minMajor = 0, minMinor = 0] = minimum.split(".").map(Number);
  return major < minMajor || (major === minMajor && minor < minMinor);
}
