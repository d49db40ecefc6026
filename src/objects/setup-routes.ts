import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { anyAccess } from "../auth/guard.ts";
import { healthRes } from "../http/response-schema.ts";

export interface SetupDeps {
  /** The entity of a project that is named without one, for keys that are not for one entity. */
  readonly defaultEntity: string;
}

const graphqlBody = z.object({ query: z.string().max(100_000) }).meta({ id: "GraphqlReq" });
const viewer = z.object({ username: z.string(), defaultEntity: z.object({ name: z.string() }) });
const graphqlRes = z
  .union([
    z.object({ data: z.object({ viewer }) }),
    z.object({ errors: z.array(z.object({ message: z.string() })) }),
  ])
  .meta({ id: "GraphqlRes" });
const serverInfoRes = z
  .object({ min_required_weave_python_version: z.string() })
  .meta({ id: "ServerInfoRes" });

/** What the Weave SDKs ask before they send anything. */
export async function setupRoutes(root: FastifyInstance, { defaultEntity }: SetupDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const config = { access: anyAccess };

  // `weave.login` tries a key here
  app.get("/health", { config, schema: { response: { 200: healthRes } } }, async () => ({
    status: "ok" as const,
  }));

  app.get("/server_info", { config, schema: { response: { 200: serverInfoRes } } }, async () => ({
    min_required_weave_python_version: "0.0.0",
  }));

  const graphql = { config, schema: { body: graphqlBody, response: { 200: graphqlRes } } };
  app.post("/graphql", graphql, async (request) => {
    if (!/\bviewer\b/.test(request.body.query)) {
      return { errors: [{ message: "Only viewer { username defaultEntity { name } } is known here." }] };
    }
    const { entity, keyId } = request.grant;
    return { data: { viewer: { username: keyId, defaultEntity: { name: entity ?? defaultEntity } } } };
  });
}
