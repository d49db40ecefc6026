import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Access } from "../auth/guard.ts";
import { VERSION } from "../../version.ts";
import { compressed, staticAnswer, staticRoute } from "../static-answer.ts";
import { docsRoutes } from "./docs-page.ts";
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

/** Describes every route registered after it, from the schemas and the access that the routes declare. */
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
}

/** `/openapi.json`, and `/docs` for people. Registered with the other routes, because they declare their access like them. */
export async function registerOpenapiRoutes(app: FastifyInstance): Promise<void> {
  const response = { 200: z.looseObject({}).meta({ id: "OpenapiDocument" }) };
  const answer = staticAnswer({
    type: "application/json; charset=utf-8",
    cacheControl: "no-cache",
    bytesIn: compressed(() => Buffer.from(JSON.stringify(app.swagger()))),
  });
  app.get("/openapi.json", { ...staticRoute, schema: { response } }, answer);
  await app.register(docsRoutes);
}

/** The scheme of each alternative, and the scope that the key must have. */
function securityOf(access: Access | undefined): Record<string, string[]>[] {
  if (access === undefined || access === "public") return [];
  return access.schemes.map((scheme) => ({ [scheme]: [access.scope] }));
}
