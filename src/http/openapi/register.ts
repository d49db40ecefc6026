import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Access } from "../auth/guard.ts";
import { VERSION } from "../../version.ts";
import { compressed, staticResponse, staticRoute } from "../static-response.ts";
import { docsRoutes } from "./docs-page.ts";
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
  { name: "objects", description: "Objects, files and tables of the Weave SDKs" },
  { name: "training", description: "The gateway for training and chat" },
  { name: "keys", description: "API keys" },
  { name: "projects", description: "Retention and deletion" },
  { name: "operations", description: "Health, metrics and this description" },
];

/** Describes every route registered after it by its schemas and its access. */
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
}

/** Adds `/openapi.json` and `/docs`. */
export async function registerOpenapiRoutes(app: FastifyInstance): Promise<void> {
  const answer = staticResponse({
    type: "application/json; charset=utf-8",
    cacheControl: "no-cache",
    bytesIn: compressed(() => Buffer.from(JSON.stringify(app.swagger()))),
  });
  app.get("/openapi.json", { ...staticRoute, schema: openapiSchema }, answer);
  await app.register(docsRoutes);
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
