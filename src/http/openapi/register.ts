import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Access } from "../auth/guard.ts";
import { VERSION } from "../../version.ts";
import { completeDocument } from "./document.ts";
import { operations } from "./operations/index.ts";

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
  { name: "objects", description: "Objects, files and tables of the Weave SDKs" },
  { name: "training", description: "The gateway for training and chat" },
  { name: "keys", description: "API keys" },
  { name: "projects", description: "Retention and deletion" },
  { name: "operations", description: "Health, metrics and this description" },
];

const tagByPath: readonly (readonly [RegExp, string])[] = [
  [/^\/(trace|calls)\/usage/, "usage"],
  [/^\/call\/receipt/, "usage"],
  [/^\/v1\//, "training"],
  [/otel/, "otel"],
  [/^\/feedback/, "feedback"],
  [/^\/cost/, "prices"],
  [/^\/(objs?|refs|file|table)\//, "objects"],
  [/^\/(api-keys|me$)/, "keys"],
  [/^\/projects/, "projects"],
  [/^\/(call|calls|v2)\//, "calls"],
];

/**
 * Describes every route registered after it, from the schemas and the access that the routes declare, and serves
 * the description at `/docs`. To be registered before the guard: the pages are public.
 */
export async function registerOpenapi(app: FastifyInstance): Promise<void> {
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
    transform: (route) => {
      const { schema, url } = jsonSchemaTransform({ ...route, schema: route.schema ?? {} });
      const tag = tagByPath.find(([path]) => path.test(url))?.[1] ?? "operations";
      return { url, schema: { tags: [tag], security: securityOf(route.route.config?.access), ...schema } };
    },
    transformObject: (document) => completeDocument(jsonSchemaTransformObject(document), operations),
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    uiConfig: { docExpansion: "none" },
    // styles are set inline by Swagger UI; everything else is a file of its own
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
}

/** `/openapi.json`. Registered with the other routes, because it declares its access like them. */
export function registerOpenapiRoute(app: FastifyInstance): void {
  const config = { access: "public" } as const;
  const response = { 200: z.looseObject({}).meta({ id: "OpenapiDocument" }) };
  app.get("/openapi.json", { config, exposeHeadRoute: true, schema: { response } }, async () =>
    app.swagger(),
  );
}

/** The scheme of each alternative, and the scope that the key must have. */
function securityOf(access: Access | undefined): Record<string, string[]>[] {
  if (access === undefined || access === "public") return [];
  return access.schemes.map((scheme) => ({ [scheme]: [access.scope] }));
}
