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
    description: "Seconds to wait",
    schema: { type: "integer" },
  },
  "www-authenticate": {
    component: "Challenge",
    description: "The schemes that the route accepts",
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

/** Property of a route that leads to these errors. `input`: it takes a body or parameters. */
type When = "always" | "key" | "body" | "input" | "storage";

interface SharedResponse {
  readonly when: When | "listed";
  readonly name: string;
  readonly description: string;
  readonly schema?: string;
  readonly header?: HeaderName;
  readonly detail: unknown;
}

/** By status. */
const shared: Readonly<Record<number, SharedResponse>> = {
  401: {
    when: "key",
    name: "Unauthenticated",
    description: "The credentials are missing or wrong",
    header: "www-authenticate",
    detail: "Authentication failed",
  },
  403: {
    when: "key",
    name: "Forbidden",
    description: "The key does not permit this, or not in this project",
    detail: "This key may not use that project.",
  },
  429: {
    when: "key",
    name: "TooManyRequests",
    description: "The key or its address has sent too many requests",
    header: "retry-after",
    detail: "Too many requests. Try again later.",
  },
  408: {
    when: "body",
    name: "Stalled",
    description: "The request did not arrive in time",
    detail: "The request did not arrive in time.",
  },
  413: {
    when: "body",
    name: "TooLarge",
    description: "The body, or the requested response, is too large",
    detail: "The body is larger than the limit of this route, 1048576 bytes decompressed.",
  },
  415: {
    when: "body",
    name: "UnsupportedMediaType",
    description: "The route does not accept this media type",
    detail: "This route accepts application/json.",
  },
  422: {
    when: "input",
    name: "Invalid",
    description: "The request is invalid; the response lists its issues, a hundred at most",
    schema: "HTTPValidationError",
    detail: [{ loc: ["body", "project_id"], msg: "Field required", type: "missing" }],
  },
  504: {
    when: "body",
    name: "QueryLimit",
    description: "The query ran out of time or memory",
    detail:
      "The query ran out of time. Narrow it: a shorter window, a narrower filter, fewer traces or metrics, or a smaller limit.",
  },
  404: {
    when: "listed",
    name: "NotFound",
    description: "Not found",
    detail: "There is no such object.",
  },
  409: {
    when: "listed",
    name: "AlreadyRunning",
    description: "The same action is already running",
    detail: "A backup is already running. Retry when it is done.",
  },
  507: {
    when: "storage",
    name: "StorageFull",
    description: "The store's disk is almost full (`MIN_FREE_DISK_BYTES`); trying again does not help",
    detail:
      "The store's disk is almost full: it takes deletions, nothing else. Delete something, or have it enlarged.",
  },
  400: {
    when: "always",
    name: "BadRequest",
    description: "The request is malformed, or its body is not JSON",
    detail: "The body is not JSON.",
  },
  500: {
    when: "always",
    name: "Bug",
    description: "A bug in Sumtree; the log has details under the request's id",
    detail: "Internal error. Request id: 5f0c2b9e",
  },
  503: {
    when: "always",
    name: "Unavailable",
    description: "Store unreachable, or service overloaded",
    header: "retry-after",
    detail: "Store unreachable. Retry later.",
  },
};

/** Returns the shared responses of a route by status. `listed`: statuses that it declares itself. */
export function errorResponses(
  holds: Readonly<Record<When, boolean>>,
  listed: readonly number[],
): Record<string, Reference> {
  return Object.fromEntries(
    Object.entries(shared)
      .filter(([status, { when }]) => (when === "listed" ? listed.includes(Number(status)) : holds[when]))
      .map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

/** Response components by name. */
export const sharedResponses: Record<string, Response> = Object.fromEntries(
  Object.values(shared).map(({ name, description, schema = "ErrorRes", header, detail }) => [
    name,
    jsonResponse(description, { schema, headers: header === undefined ? [] : [header], example: { detail } }),
  ]),
);
