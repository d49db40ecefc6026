import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Engine, StoreHealth } from "../store/engine.ts";
import { pendingMigrations } from "../store/schema/migrate.ts";
import { isOlder, MIN_SERVER_VERSION } from "../store/transport/server-version.ts";
import { healthRes } from "./schemas/response-schema.ts";

const access = z.enum(["ok", "not ready"]);
const each = {
  reads: access.describe("Whether the store can be read"),
  writes: access.describe("Whether it can be written to"),
};
const readyRes = z.object({ status: z.literal("ok"), ...each }).meta({ id: "ReadyRes" });
const notReadyRes = z
  .object({ status: z.literal("not ready"), detail: z.string().describe("What is missing"), ...each })
  .meta({ id: "NotReadyRes" });

const probes = { "/readyz": "both", "/readyz/reads": "reads", "/readyz/writes": "writes" } as const;
const NOT_REACHABLE = "The store is not reachable.";

/**
 * `/healthz` checks this process. `/readyz` checks the store, its version and its migrations: it is ready when reads and
 * writes can succeed, and reports which can. `/readyz/reads` and `/readyz/writes` report one of them.
 */
export function registerHealth(root: FastifyInstance, engine: Engine): void {
  const app = root.withTypeProvider<ZodTypeProvider>();
  // some probes send HEAD
  const options = { config: { access: "public" }, exposeHeadRoute: true } as const;
  app.get("/healthz", { ...options, schema: { response: { 200: healthRes } } }, async () => ({
    status: "ok" as const,
  }));
  const readyz = { ...options, schema: { response: { 200: readyRes, 503: notReadyRes } } };
  for (const [url, needed] of Object.entries(probes)) {
    app.get(url, readyz, async (_request, reply) => {
      const { reads, writes } = await storeHealth(engine);
      const problem = { both: reads ?? writes, reads, writes }[needed];
      const both = { reads: accessOf(reads), writes: accessOf(writes) };
      if (problem === undefined) return { status: "ok" as const, ...both };
      return reply
        .code(503)
        .header("retry-after", "5")
        .send({ status: "not ready", detail: problem, ...both });
    });
  }
}

function accessOf(problem: string | undefined): z.infer<typeof access> {
  return problem === undefined ? "ok" : "not ready";
}

async function storeHealth(engine: Engine): Promise<StoreHealth> {
  try {
    const health = await engine.health();
    if (health.reads !== undefined) return neither(NOT_REACHABLE);
    const version = await engine.version();
    if (isOlder(version)) return neither(`ClickHouse is older than ${MIN_SERVER_VERSION}.`);
    const pending = await pendingMigrations(engine);
    if (pending.length > 0) return neither("Migrations are missing: run `npm run migrate`.");
    const { writes } = health;
    return { reads: undefined, writes: writes && `The store cannot be written to: ${writes}.` };
  } catch {
    return neither(NOT_REACHABLE);
  }
}

function neither(problem: string): StoreHealth {
  return { reads: problem, writes: problem };
}
