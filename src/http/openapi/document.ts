import type { OpenAPIV3_1 } from "openapi-types";
import type { Operation, Operations } from "./operation.ts";
import { errorResponses, headerRefs, sharedHeaders, sharedResponses } from "./shared-responses.ts";
import { reachable, tidySchemas } from "./tidy-schemas.ts";

type Document = OpenAPIV3_1.Document;
type Described = OpenAPIV3_1.OperationObject;
type Content = Record<string, OpenAPIV3_1.MediaTypeObject>;
type Responses = Record<string, OpenAPIV3_1.ResponseObject>;
type Schemas = NonNullable<NonNullable<Document["components"]>["schemas"]>;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Adds names, descriptions, examples, and the responses and headers that routes share. */
export function completeDocument(document: unknown, operations: Operations): Document {
  const complete = tidySchemas(document as Document);
  for (const [path, item] of Object.entries(complete.paths ?? {})) {
    for (const method of METHODS) {
      const described = item?.[method];
      if (described === undefined) continue;
      const operation = operations[`${method.toUpperCase()} ${path}`];
      if (operation !== undefined) describe(described, operation);
      addSharedResponses(described, { path, method });
    }
  }
  const components = (complete.components ??= {});
  components.headers = sharedHeaders;
  components.responses = { ...sharedResponses, ...gatewayError(components.schemas ?? {}) };
  const schemas = components.schemas ?? {};
  const used = reachable([complete.paths, components.responses], schemas);
  components.schemas = Object.fromEntries([...used].toSorted().map((name) => [name, schemas[name]!]));
  return complete;
}

function describe(described: Described, operation: Operation): void {
  described.operationId = operation.id;
  described.summary = operation.summary;
  described.description = operation.description;
  const { example, also = {} } = operation;
  const body = described.requestBody as { content: Content } | undefined;
  if (body !== undefined) completeContent(body.content, example.request, also.request);
  const responses = described.responses as Responses;
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  if (success === undefined) return;
  success.description = operation.response;
  success.headers = headerRefs(
    "x-request-id",
    ...(operation.truncated === undefined ? [] : ["x-truncated" as const]),
    ...(operation.tellsRoots === true ? ["x-traces-without-root" as const] : []),
    ...(operation.hasPages === true ? ["x-next-page-token" as const] : []),
  );
  if (success.content !== undefined) completeContent(success.content, example.response, also.response);
  if (operation.truncated !== undefined)
    described.description += `\n\n\`x-truncated: true\`: ${operation.truncated}`;
}

function completeContent(content: Content, example: unknown, also: Content | undefined): void {
  const [first] = Object.values(content);
  if (example !== undefined && first !== undefined) first.example = example;
  Object.assign(content, also);
}

/** Routes that answer 404 when there is nothing under the id or digest they are asked for. */
const FINDS_ONE =
  /^\/(deletions|api-keys)\/\{id\}|^\/(obj\/read|refs\/read_batch|file\/content|call\/receipt)$|^\/table\/(?!create$)/;

function addSharedResponses(
  described: Described,
  { path, method }: { readonly path: string; readonly method: string },
): void {
  const own = described.responses as Responses;
  // the gateway's errors have a shape of their own
  if (path.startsWith("/v1/")) {
    described.responses = { ...own, default: { $ref: "#/components/responses/GatewayError" } };
    return;
  }
  const shared = errorResponses({
    secured: (described.security?.length ?? 0) > 0,
    // a body is read before a route ignores it
    body: described.requestBody !== undefined || method === "delete" || method === "post",
    parameters: (described.parameters ?? []).length > 0,
    findsOne: FINDS_ONE.test(path),
    runsAlone: path === "/backups",
    stores: (described.security ?? []).some(({ bearer }) => bearer?.includes("ingest") === true),
  });
  described.responses = { ...shared, ...own };
}

function gatewayError(schemas: Schemas): NonNullable<NonNullable<Document["components"]>["responses"]> {
  if (schemas["GatewayErrorRes"] === undefined) return {};
  return {
    GatewayError: {
      description: "An error of the gateway or of its upstream, in the form that OpenAI SDKs read",
      headers: headerRefs("x-request-id", "retry-after"),
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/GatewayErrorRes" },
          example: {
            error: {
              message: "No training upstream is configured: set TRAINING_UPSTREAM_URL.",
              type: "api_error",
              param: null,
              code: "upstream_not_configured",
            },
            detail: "No training upstream is configured: set TRAINING_UPSTREAM_URL.",
          },
        },
      },
    },
  };
}
