import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Clock } from "../shared/clock.ts";
import { healthRes } from "./schemas/response-schema.ts";
import { createStoreCheck, type CheckedStore } from "./store-check.ts";

const access = z.enum(["ok", "not ready"]);
const each = {
  reads: access.describe("Read access to the store"),
  writes: access.describe("Write access to the store"),
};
const readyRes = z.object({ status: z.literal("ok"), ...each }).meta({ id: "ReadyRes" });
const notReadyRes = z
  .object({ status: z.literal("not ready"), detail: z.string().describe("What is missing"), ...each })
  .meta({ id: "NotReadyRes" });

const readyz = {
  example: { response: { status: "ok", reads: "ok", writes: "ok" } },
  response: { 200: readyRes, 503: notReadyRes },
};
const probes = [
  {
    url: "/readyz",
    needed: "both",
    operationId: "readyz",
    summary: "Check that the store is reachable, supported, migrated and writable",
    description: "503 with the reason until then; `reads` and `writes` show which of them can succeed.",
    success: "Ready",
  },
  {
    url: "/readyz/reads",
    needed: "reads",
    operationId: "readyzReads",
    summary: "Check that the store can be read",
    description: "Also succeeds while the store is read-only.",
    success: "Ready",
  },
  {
    url: "/readyz/writes",
    needed: "writes",
    operationId: "readyzWrites",
    summary: "Check that the store can be written to",
    description: "503 while too few of its replicas are up, or their keeper is down.",
    success: "Ready",
  },
] as const;

/**
 * `/healthz` checks this process. `/readyz` checks the store, its version and its migrations: it is ready when reads and
 * writes can succeed, and reports which can. `/readyz/reads` and `/readyz/writes` report one of them.
 */
export function registerHealth(root: FastifyInstance, store: CheckedStore, steady: Clock): void {
  const storeHealth = createStoreCheck(store, steady);
  const app = root.withTypeProvider<ZodTypeProvider>();
  // some probes send HEAD
  const options = { config: { access: "public" }, exposeHeadRoute: true } as const;
  app.get("/healthz", { ...options, schema: healthzSchema }, async () => ({
    status: "ok" as const,
  }));
  // Claude Code asks before its first request
  app.get("/api/hello", { ...options, schema: { hide: true } }, async () => ({ message: "hello" }));
  for (const { url, needed, ...text } of probes) {
    app.get(url, { ...options, schema: { ...readyz, ...text } }, async (_request, reply) => {
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

const healthzSchema = {
  operationId: "healthz",
  summary: "Check that the process is up",
  description: "Does not access the store.",
  success: "Running",
  example: { response: { status: "ok" } },
  response: { 200: healthRes },
};
