import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { anyAccess } from "../auth/guard.ts";

export interface SetupDeps {
  /** The entity of a project that is named without one, for keys that are not for one entity. */
  readonly defaultEntity: string;
}

const graphqlBody = z.object({ query: z.string().max(100_000) });

/** What the Weave SDKs ask before they send anything. */
export async function setupRoutes(root: FastifyInstance, { defaultEntity }: SetupDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const config = { access: anyAccess };

  // `weave.login` tries a key here
  app.get("/health", { config }, async () => ({ status: "ok" }));

  app.get("/server_info", { config }, async () => ({ min_required_weave_python_version: "0.0.0" }));

  app.post("/graphql", { config, schema: { body: graphqlBody } }, async (request) => {
    if (!/\bviewer\b/.test(request.body.query)) {
      return { errors: [{ message: "Only viewer { username defaultEntity { name } } is known here." }] };
    }
    const { entity, keyId } = request.grant;
    return { data: { viewer: { username: keyId, defaultEntity: { name: entity ?? defaultEntity } } } };
  });
}
