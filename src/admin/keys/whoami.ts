import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { SCOPES } from "../../http/auth/api-key.ts";
import { anyAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { abortOnClose } from "../../http/when-closed.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";

const MAX_PROJECTS = 1000;

const whoamiRes = z
  .object({
    id: z.string().describe("Of the key; `root` for the root key"),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    projects: z.array(z.string()).describe("What the key may use: `*`, `entity/*` or `entity/project`"),
    expires_at: z.string().nullable(),
    projects_with_data: z
      .array(z.string())
      .nullable()
      .describe("The visible projects that contain calls or feedback, sorted; null if the key may not read"),
    truncated: z.boolean().describe(`Whether there are more than ${MAX_PROJECTS} of them`),
  })
  .meta({ id: "WhoamiRes" });

/** Route `GET /me`: permissions of the key, and projects with data; the first request of the web UI. */
export async function whoamiRoutes(root: FastifyInstance, { engine }: { engine: Engine }): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/me",
    { config: { access: anyAccess, tag: "keys" }, schema: whoamiSchema },
    async ({ grant }, reply) => {
      const { id, name, scopes, projects, expiresAtMs } = grant.key;
      const found = grant.has("read")
        ? await projectsWithData(engine, projects, abortOnClose(reply))
        : undefined;
      void reply.header("cache-control", "no-store");
      return {
        id,
        name,
        scopes: [...scopes],
        projects: [...projects],
        expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
        projects_with_data: found?.slice(0, MAX_PROJECTS) ?? null,
        truncated: found !== undefined && found.length > MAX_PROJECTS,
      };
    },
  );
}

async function projectsWithData(
  engine: Engine,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const visible = join(patterns.map(isCovered), " OR ");
  const rows = await engine.rows<{ project_id: string }>(
    sql`SELECT DISTINCT project_id FROM (
          SELECT DISTINCT toString(project_id) AS project_id FROM calls WHERE ${visible}
          UNION ALL
          SELECT DISTINCT toString(project_id) AS project_id FROM feedback WHERE ${visible}
        ) ORDER BY project_id LIMIT ${param("UInt32", MAX_PROJECTS + 1)}`,
    { name: "whoami_projects", limits: "heavy", signal },
  );
  return rows.map((row) => row.project_id);
}

function isCovered(pattern: string): Sql {
  if (pattern === "*") return sql`1`;
  return pattern.endsWith("/*")
    ? sql`startsWith(project_id, ${param("String", pattern.slice(0, -1))})`
    : sql`project_id = ${param("String", pattern)}`;
}

const whoamiSchema = {
  operationId: "whoami",
  summary: "Get a key's scopes, and the projects it can see that contain data",
  description: "For user interfaces. A key that may not read does not learn which projects contain data.",
  success: "The key",
  example: {
    response: {
      id: "0123456789ab",
      name: "ingest of the demo",
      scopes: ["read"],
      projects: ["acme/*"],
      expires_at: null,
      projects_with_data: ["acme/demo"],
      truncated: false,
    },
  },
  response: { 200: whoamiRes },
};
