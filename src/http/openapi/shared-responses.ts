import type { OpenAPIV3_1 } from "openapi-types";

type Response = OpenAPIV3_1.ResponseObject;
type Reference = OpenAPIV3_1.ReferenceObject;

/** Response headers by name, and as components. */
const headers = {
  "x-request-id": {
    component: "RequestId",
    description: "The id of the request, for logs and support",
    schema: { type: "string" },
  },
  "retry-after": {
    component: "RetryAfter",
    description: "Seconds to wait, with 429 and 503",
    schema: { type: "integer" },
  },
  "www-authenticate": {
    component: "Challenge",
    description: "The schemes that the route accepts, with 401",
    schema: { type: "string" },
  },
  "x-truncated": {
    component: "Truncated",
    description: "`true`: more data matches than the response contains",
    schema: { type: "string", enum: ["true", "false"] as string[] },
  },
  "x-next-page-token": {
    component: "NextPageToken",
    description:
      "`page_token` of the next page, if there is one and the calls are sorted by `started_at` alone",
    schema: { type: "string" },
  },
} as const;
type HeaderName = keyof typeof headers;

export function headerRefs(...names: readonly HeaderName[]): Record<string, Reference> {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${headers[name].component}` }]),
  );
}

export const sharedHeaders: Record<string, OpenAPIV3_1.HeaderObject> = Object.fromEntries(
  Object.values(headers).map(({ component, ...header }) => [component, header]),
);

/** Creates a JSON response with a named schema. */
export function jsonResponse(
  description: string,
  { schema, headers, example }: { schema: string; headers: readonly HeaderName[]; example: unknown },
): Response {
  return {
    description,
    headers: headerRefs("x-request-id", ...headers),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` }, example } },
  };
}

/** Response components by name. */
export const sharedResponses: Record<string, Response> = {
  Error: jsonResponse("Any other status: docs/errors.md lists them", {
    schema: "ErrorRes",
    headers: ["retry-after", "www-authenticate"],
    example: { detail: "This key may not use that project." },
  }),
  Invalid: jsonResponse("The request is invalid; the response lists its issues, a hundred at most", {
    schema: "HTTPValidationError",
    headers: [],
    example: { detail: [{ loc: ["body", "project_id"], msg: "Field required", type: "missing" }] },
  }),
};
