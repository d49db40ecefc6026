import type { FastifyInstance } from "fastify";
import { serializerCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";
import { invalid } from "../shared/errors.ts";
import { toIssues } from "./zod-issues.ts";

const partNames: Readonly<Record<string, string>> = {
  body: "body",
  querystring: "query",
  params: "path",
  headers: "header",
};

/** Requests are validated, and answers serialised, by the zod schema that a route declares. */
export function registerValidation(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (value) => {
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return { value: result.data };
    return { error: invalid(toIssues(result.error.issues, partNames[httpPart ?? "body"] ?? "body")) };
  });
  app.setSerializerCompiler(serializerCompiler);
}

/** For a route that reads its body itself: the schema of the body describes it and checks nothing. */
export const describedBody = { validatorCompiler: () => (value: unknown) => ({ value }) };
