import type { OpenAPIV3_1 } from "openapi-types";
import { parseJsonText } from "../../shared/escaped-keys.ts";

type Document = OpenAPIV3_1.Document;
type Schemas = Record<string, OpenAPIV3_1.SchemaObject>;

/** Suffix that fastify-type-provider-zod adds to schema names of requests. */
const INPUT = /(?<=#\/components\/schemas\/\w+)Input(?=")/g;
const REF = /#\/components\/schemas\/(\w+)/g;

/** Gives each schema one name. One that requests and responses share is described as in responses. */
export function nameSchemas(document: Document): Document {
  const { schemas = {}, ...components } = document.components ?? {};
  const responses = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item ?? {}).map((operation) => (operation as OpenAPIV3_1.OperationObject).responses),
  );
  const inResponses = reachable(responses, schemas);
  const named = Object.fromEntries(
    Object.keys(schemas)
      .filter((name) => !name.endsWith("Input"))
      .map((name) => [name, schemas[inResponses.has(name) ? name : `${name}Input`] ?? schemas[name]]),
  );
  const text = JSON.stringify({ ...document, components: { ...components, schemas: named } });
  return parseJsonText(text.replaceAll(INPUT, "")) as Document;
}

/** Returns the names of the schemas that a part of the document refers to, transitively. */
export function reachable(from: unknown, schemas: Schemas): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    for (const [, name = ""] of JSON.stringify(node ?? null).matchAll(REF)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name]);
    }
  };
  visit(from);
  return found;
}
