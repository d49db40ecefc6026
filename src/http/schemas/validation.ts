import type { FastifyInstance } from "fastify";
import { serializerCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";
import { invalid } from "../../shared/errors.ts";
import { toIssues } from "./zod-issues.ts";

const partNames: Readonly<Record<string, string>> = {
  body: "body",
  querystring: "query",
  params: "path",
  headers: "header",
};

/** Validates requests and serialises responses with the zod schemas that a route declares. */
export function registerValidation(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (value) => {
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return { value: result.data };
    return { error: invalid(toIssues(result.error.issues, partNames[httpPart ?? "body"] ?? "body")) };
  });
  app.setSerializerCompiler(serializerCompiler);
}

/** Options of a route that reads its own body: the schema of the body only describes it. */
export const describedBody = { validatorCompiler: () => (value: unknown) => ({ value }) };
