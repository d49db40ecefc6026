import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Grant } from "../http/auth/grant.ts";
import { anyAccess } from "../http/auth/guard.ts";
import { healthRes } from "../http/schemas/response-schema.ts";

export interface SetupDeps {
  /** The entity of projects named without one, for keys that cover more than one entity. */
  readonly defaultEntity: string;
}

const graphqlBody = z
  .object({
    query: z.string().max(100_000),
    variables: z.object({ name: z.string().optional(), entityName: z.string().optional() }).nullish(),
  })
  .meta({ id: "GraphqlReq" });
const project = z.object({ name: z.string() });
const viewer = z.object({ username: z.string(), defaultEntity: z.object({ name: z.string() }) });
const graphqlRes = z
  .union([
    z.object({ data: z.object({ viewer }) }),
    z.object({ data: z.object({ project }) }),
    z.object({
      errors: z.array(
        z.object({ message: z.string(), extensions: z.object({ code: z.string() }).optional() }),
      ),
    }),
  ])
  .meta({ id: "GraphqlRes" });
const serverInfoRes = z
  .object({ min_required_weave_python_version: z.string() })
  .meta({ id: "ServerInfoRes" });

/** Registers the routes that the Weave SDKs call first. */
export async function setupRoutes(root: FastifyInstance, { defaultEntity }: SetupDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const config = { access: anyAccess };

  // `weave.login` checks a key here
  app.get("/health", { config, schema: weaveHealthSchema }, async () => ({
    status: "ok" as const,
  }));

  app.get("/server_info", { config, schema: serverInfoSchema }, async () => ({
    min_required_weave_python_version: "0.0.0",
  }));

  app.post("/graphql", { config, schema: graphqlSchema }, async (request) => {
    const { query, variables } = request.body;
    if (/\bproject\s*\(/.test(query)) return projectOf(request.grant, variables ?? {});
    if (!/\bviewer\b/.test(query)) return { errors: [{ message: supportedQueries }] };
    const { entity, keyId } = request.grant;
    return { data: { viewer: { username: keyId, defaultEntity: { name: entity ?? defaultEntity } } } };
  });
}

const supportedQueries =
  "Only viewer { username defaultEntity { name } } and project(name, entityName) { name } are supported.";

/** Returns a project: every project that the key covers exists. */
function projectOf(
  grant: Grant,
  { name = "", entityName = "" }: { name?: string | undefined; entityName?: string | undefined },
) {
  if (grant.covers(`${entityName}/${name}`)) return { data: { project: { name } } };
  const extensions = { code: "PERMISSION_ERROR" };
  return { errors: [{ message: "This key may not use that project.", extensions }] };
}

const graphqlSchema = {
  operationId: "graphql",
  summary: "Answer the W&B queries that the Weave SDKs send first",
  description:
    "Supports two queries: `viewer` with its default entity, and `project`, which checks that the key may use a project.",
  success: "The viewer or the project, or a GraphQL error",
  example: {
    request: { query: "query { viewer { username defaultEntity { name } } }" },
    response: { data: { viewer: { username: "0123456789ab", defaultEntity: { name: "acme" } } } },
  },
  body: graphqlBody,
  response: { 200: graphqlRes },
};

const weaveHealthSchema = {
  operationId: "weaveHealth",
  summary: "Check a key, for the Weave SDKs",
  description: "The Weave SDKs call it at login.",
  success: "The key is valid",
  example: { response: { status: "ok" } },
  response: { 200: healthRes },
};

const serverInfoSchema = {
  operationId: "serverInfo",
  summary: "Get the features that this server offers the Weave SDKs",
  description: "Returns the oldest supported Weave SDK for Python.",
  success: "The version",
  example: { response: { min_required_weave_python_version: "0.0.0" } },
  response: { 200: serverInfoRes },
};
