import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Access } from "../auth/guard.ts";
import { VERSION } from "../../version.ts";
import { completeDocument, type RouteTexts } from "./document.ts";
import type { RouteText } from "./route-text.ts";

const info = {
  title: "Sumtree",
  version: VERSION,
  description: "What every call of an LLM trace really used and cost.",
  license: { name: "MIT", identifier: "MIT" },
};

const tags = [
  { name: "usage", description: "Usage and costs of calls, including their descendants" },
  { name: "calls", description: "Storing calls as the Weave SDKs send them, and reading them back" },
  { name: "otel", description: "Traces of OpenTelemetry exporters" },
  { name: "feedback", description: "Storing feedback, and aggregating it over local time" },
  { name: "prices", description: "A project's own prices" },
  { name: "budgets", description: "Limits of what requests through the gateway may use" },
  { name: "objects", description: "Objects, files and tables of the Weave SDKs" },
  { name: "training", description: "The gateway for training and chat" },
  { name: "keys", description: "API keys" },
  { name: "projects", description: "Retention and deletion" },
  { name: "operations", description: "Health, metrics and this description" },
];

/** Swagger UI sets styles inline; everything else is a file of this service. */
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Describes every route registered after it by its schemas and its access, and shows them at `/docs`. */
export async function registerOpenapi(
  app: FastifyInstance,
  { otherErrors }: Pick<RouteTexts, "otherErrors">,
): Promise<void> {
  const texts = new Map<string, RouteText>();
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info,
      tags,
      servers: [{ url: "/" }],
      components: {
        securitySchemes: {
          basic: {
            type: "http",
            scheme: "basic",
            description: "Any user name, with the key as the password.",
          },
          bearer: { type: "http", scheme: "bearer", description: "The key." },
        },
      },
    },
    transform: ({ schema, route, ...rest }) => {
      const { access, tag = "operations" } = route.config ?? {};
      const { url, schema: described } = jsonSchemaTransform({ ...rest, route, schema });
      if (schema.operationId !== undefined) texts.set(schema.operationId, schema);
      return { url, schema: { tags: [tag], security: securityOf(access), ...described } };
    },
    transformObject: (document) =>
      completeDocument(jsonSchemaTransformObject(document), { texts, otherErrors }),
  });
  app.addHook("onRoute", (route) => {
    if (/^\/docs(\/|$)/.test(route.url)) route.config = { ...route.config, access: "public" };
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: docsPolicy,
    theme: { title: "Sumtree: the interface" },
    uiConfig: { docExpansion: "none", validatorUrl: null },
  });
}

/** Adds `/openapi.json`. */
export async function registerOpenapiRoute(app: FastifyInstance): Promise<void> {
  let document: string | undefined;
  const route = { config: { access: "public" }, exposeHeadRoute: true, schema: openapiSchema } as const;
  app.get("/openapi.json", route, async (_request, reply) =>
    reply.type("application/json; charset=utf-8").send((document ??= JSON.stringify(app.swagger()))),
  );
}

/** Returns the authentication schemes of a route and the required scope. */
function securityOf(access: Access | undefined): Record<string, string[]>[] {
  if (access === undefined || access === "public") return [];
  return access.schemes.map((scheme) => ({ [scheme]: [access.scope] }));
}

const openapiSchema = {
  operationId: "openapi",
  summary: "Get this OpenAPI document",
  description: "OpenAPI 3.1. `/docs` shows it as a page.",
  success: "The document",
  example: { response: { openapi: "3.1.0" } },
  response: { 200: z.looseObject({}).meta({ id: "OpenapiDocument" }) },
};
