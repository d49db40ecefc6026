import type { OpenAPIV3_1 } from "openapi-types";
import type { RouteText } from "./route-text.ts";
import { headerRefs, sharedHeaders, sharedResponses } from "./shared-responses.ts";
import { reachable, nameSchemas } from "./name-schemas.ts";

type Document = OpenAPIV3_1.Document;
type Content = Record<string, OpenAPIV3_1.MediaTypeObject>;
type Responses = Record<string, OpenAPIV3_1.ResponseObject | OpenAPIV3_1.ReferenceObject>;
type Described = OpenAPIV3_1.OperationObject;

export interface RouteTexts {
  /** By operation id. */
  readonly texts: ReadonlyMap<string, RouteText>;
  /** Responses by name of routes with their own error format. */
  readonly otherErrors: typeof sharedResponses;
}

/** Adds examples, and the responses and headers that routes share. */
export function completeDocument(document: unknown, { texts, otherErrors }: RouteTexts): Document {
  const complete = nameSchemas(document as Document);
  for (const item of Object.values(complete.paths ?? {})) {
    for (const operation of Object.values(item ?? {})) {
      const described = operation as Described;
      const text = texts.get(described.operationId ?? "") ?? {};
      describe(described, text);
      described.responses = allResponses(described, text);
    }
  }
  const components = (complete.components ??= {});
  components.headers = sharedHeaders;
  components.responses = { ...sharedResponses, ...otherErrors };
  const schemas = components.schemas ?? {};
  const used = reachable([complete.paths, components.responses], schemas);
  components.schemas = Object.fromEntries([...used].toSorted().map((name) => [name, schemas[name]!]));
  return complete;
}

function describe(described: Described, text: RouteText): void {
  const { example = {}, truncated } = text;
  const body = described.requestBody as { content: Content } | undefined;
  if (body !== undefined) completeContent(body.content, example.request, text.alsoTakes);
  const [, found] =
    Object.entries(described.responses ?? {}).find(([status]) => status.startsWith("2")) ?? [];
  const success = found as OpenAPIV3_1.ResponseObject;
  success.description = text.success ?? success.description;
  success.headers = headerRefs(
    "x-request-id",
    ...(truncated === undefined ? [] : ["x-truncated" as const]),
    ...(text.hasPages === true ? ["x-next-page-token" as const] : []),
  );
  if (success.content !== undefined) completeContent(success.content, example.response, text.alsoSends);
  if (truncated !== undefined) described.description += `\n\n\`x-truncated: true\`: ${truncated}`;
}

/** Media types that are not text are bytes without a schema. */
function completeContent(content: Content, example: unknown, also: string | undefined): void {
  const [first] = Object.values(content);
  if (example !== undefined && first !== undefined) first.example = example;
  if (also !== undefined) content[also] = also.startsWith("text/") ? { schema: { type: "string" } } : {};
}

function allResponses(described: Described, { errorResponse = "Error" }: RouteText): Responses {
  const ref = (name: string) => ({ $ref: `#/components/responses/${name}` });
  const takesInput = described.requestBody !== undefined || (described.parameters ?? []).length > 0;
  const isShared = takesInput && errorResponse === "Error";
  return {
    ...(described.responses as Responses),
    ...(isShared && { 422: ref("Invalid") }),
    default: ref(errorResponse),
  };
}
