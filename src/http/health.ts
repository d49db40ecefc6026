import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Clock } from "../shared/clock.ts";
import { healthRes } from "./schemas/response-schema.ts";
import { createStoreCheck, type CheckedStore } from "./store-check.ts";

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

/**
 * `/healthz` checks this process. `/readyz` checks the store, its version and its migrations: it is ready when reads and
 * writes can succeed, and reports which can. `/readyz/reads` and `/readyz/writes` report one of them.
 */
export function registerHealth(root: FastifyInstance, store: CheckedStore, steady: Clock): void {
  const storeHealth = createStoreCheck(store, steady);
  const app = root.withTypeProvider<ZodTypeProvider>();
  // some probes send HEAD
  const options = { config: { access: "public" }, exposeHeadRoute: true } as const;
  app.get("/healthz", { ...options, schema: { response: { 200: healthRes } } }, async () => ({
    status: "ok" as const,
  }));
  const readyz = { ...options, schema: { response: { 200: readyRes, 503: notReadyRes } } };
  for (const [url, needed] of Object.entries(probes)) {
    app.get(url, readyz, async (_request, reply) => {
      const { reads, writes } = await storeHealth();
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
