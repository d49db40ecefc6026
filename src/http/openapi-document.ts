import type { OpenAPIV3_1 } from "openapi-types";

type Document = OpenAPIV3_1.Document;
type Operation = OpenAPIV3_1.OperationObject;
type Response = OpenAPIV3_1.ResponseObject;
type Schemas = NonNullable<NonNullable<Document["components"]>["schemas"]>;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

const detail: OpenAPIV3_1.SchemaObject = {
  type: "object",
  required: ["detail"],
  properties: { detail: { type: "string" } },
};

const validationError: OpenAPIV3_1.SchemaObject = {
  type: "object",
  required: ["loc", "msg", "type"],
  properties: {
    loc: { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
    msg: { type: "string" },
    type: { type: "string" },
  },
};

const httpValidationError: OpenAPIV3_1.SchemaObject = {
  type: "object",
  required: ["detail"],
  properties: { detail: { type: "array", items: { $ref: "#/components/schemas/ValidationError" } } },
};

const requestId = {
  "x-request-id": { description: "The request's id", schema: { type: "string" as const } },
};
const retryAfter = {
  "retry-after": { description: "Seconds to wait", schema: { type: "integer" as const } },
};
const challenge = {
  "www-authenticate": { description: "The schemes taken here", schema: { type: "string" as const } },
};

function answer(description: string, schemaName: string, headers: Response["headers"] = {}): Response {
  return {
    description,
    headers: { ...requestId, ...headers },
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schemaName}` } } },
  };
}

const always = {
  "500": answer("A bug of ours; only the request id is told", "Error"),
  "503": answer("The store is not reachable or has too much to do", "Error", retryAfter),
};
const withKey = {
  "401": answer("Credentials missing or wrong", "Error", challenge),
  "403": answer("The key may not do this, or not in this project", "Error"),
  "429": answer("Rate or concurrency limit", "Error", retryAfter),
};
const withBody = {
  "400": answer("Not JSON", "Error"),
  "413": answer("The body, or what it asks for, is too large", "Error"),
  "415": answer("A media type not taken here", "Error"),
  "422": answer("The request does not validate; every fault is named", "HTTPValidationError"),
  "504": answer("The query ran out of time or memory", "Error"),
};

/** What a route is called in the description. */
export interface OperationName {
  readonly id: string;
  readonly summary: string;
  /** Headers of its 200 that say something of their own. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Adds names, the answers that every route can give, and the headers that every answer carries. */
export function completeDocument(
  document: unknown,
  operations: Readonly<Record<string, OperationName>>,
): Document {
  const complete = document as Document;
  for (const [path, item] of Object.entries(complete.paths ?? {})) {
    for (const method of METHODS) {
      const operation = item?.[method];
      if (operation === undefined) continue;
      nameOperation(operation, operations[`${method.toUpperCase()} ${path}`]);
      completeOperation(operation, path);
    }
  }
  complete.components ??= {};
  const schemas = {
    ...complete.components.schemas,
    Error: detail,
    ValidationError: validationError,
    HTTPValidationError: httpValidationError,
  };
  complete.components.schemas = onlyUsed(schemas, JSON.stringify(complete.paths));
  return complete;
}

function nameOperation(operation: Operation, name: OperationName | undefined): void {
  if (name === undefined) return;
  operation.operationId = name.id;
  operation.summary = name.summary;
  const success = operation.responses?.["200"] as Response | undefined;
  if (success === undefined) return;
  for (const [header, description] of Object.entries(name.headers ?? {})) {
    success.headers = { ...success.headers, [header]: { description, schema: { type: "string" } } };
  }
}

function completeOperation(operation: Operation, path: string): void {
  const own = (operation.responses ?? {}) as Record<string, Response>;
  for (const response of Object.values(own)) response.headers = { ...requestId, ...response.headers };
  // the gateway's errors have a shape of their own, which its routes declare
  if (path.startsWith("/v1/")) return;
  const secured = (operation.security?.length ?? 0) > 0;
  operation.responses = {
    ...own,
    ...(secured ? withKey : {}),
    ...(operation.requestBody === undefined ? {} : withBody),
    ...always,
  };
}

/** The schemas that the paths reach, one through the other. */
function onlyUsed(schemas: Schemas, paths: string): Schemas {
  const used = new Map<string, Schemas[string]>();
  const visit = (text: string): void => {
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const schema = schemas[name!];
      if (schema === undefined || used.has(name!)) continue;
      used.set(name!, schema);
      visit(JSON.stringify(schema));
    }
  };
  visit(paths);
  return Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}
