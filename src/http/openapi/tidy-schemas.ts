import type { OpenAPIV3_1 } from "openapi-types";
import { isJsonObject } from "../../shared/json.ts";

type Document = OpenAPIV3_1.Document;
type Schemas = Record<string, unknown>;

/** Suffix that fastify-type-provider-zod adds to schema names of requests. */
const INPUT = "Input";
const REF = "#/components/schemas/";

/**
 * Simplifies schemas: one name each, `null` among the types, no empty keywords. A schema shared by requests and responses is
 * described as in responses.
 */
export function tidySchemas(document: Document): Document {
  const { schemas = {}, ...components } = document.components ?? {};
  const inResponses = reachable(responsesOf(document), schemas);
  const named: Schemas = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const base = baseName(name, schemas);
    const isForRequests = base !== name;
    if (isForRequests !== inResponses.has(base)) named[base] = schema;
  }
  const tidied = tidy({ ...document, components: { ...components, schemas: named } }, schemas);
  return tidied as Document;
}

function baseName(name: string, schemas: object): string {
  const base = name.endsWith(INPUT) ? name.slice(0, -INPUT.length) : name;
  return Object.hasOwn(schemas, base) ? base : name;
}

function responsesOf(document: Document): unknown {
  return Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item ?? {}).map((operation) => (operation as OpenAPIV3_1.OperationObject).responses),
  );
}

/** Returns the names of the schemas that a part of the document refers to, transitively. */
export function reachable(from: unknown, schemas: object): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    for (const name of refsIn(node)) {
      if (found.has(name) || !Object.hasOwn(schemas, name)) continue;
      found.add(name);
      visit((schemas as Schemas)[name]);
    }
  };
  visit(from);
  return found;
}

function refsIn(node: unknown): string[] {
  if (typeof node === "string") return node.startsWith(REF) ? [node.slice(REF.length)] : [];
  return typeof node === "object" && node !== null ? Object.values(node).flatMap(refsIn) : [];
}

function tidy(node: unknown, schemas: object): unknown {
  if (typeof node === "string" && node.startsWith(REF)) {
    return REF + baseName(node.slice(REF.length), schemas);
  }
  if (Array.isArray(node)) return node.map((item) => tidy(item, schemas));
  if (!isJsonObject(node)) return node;
  const members = Object.entries(node).map(([key, value]) => [key, tidy(value, schemas)] as const);
  return withNullAmongTypes(withoutNoise(Object.fromEntries(members)));
}

/** Drops redundant keywords: string keys, a choice of one, the pattern of an instant. */
function withoutNoise({ pattern, ...node }: Schemas): Schemas {
  if (pattern !== undefined && node["format"] !== "date-time") node["pattern"] = pattern;
  const { propertyNames, anyOf, ...rest } = node;
  const keys =
    isJsonObject(propertyNames) && Object.keys(propertyNames).join() !== "type" ? { propertyNames } : {};
  if (Array.isArray(anyOf) && anyOf.length === 1) return { ...rest, ...keys, ...(anyOf[0] as object) };
  return { ...rest, ...keys, ...(anyOf !== undefined && { anyOf }) };
}

function withNullAmongTypes(node: Schemas): Schemas {
  const { anyOf, ...rest } = node;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return node;
  const [some, none] = anyOf as [Schemas, Schemas];
  const isPlain = typeof some["type"] === "string" && !("enum" in some) && !("const" in some);
  if (!isPlain || none["type"] !== "null") return node;
  return { ...some, ...rest, type: [some["type"], "null"] };
}
