import type { OpenAPIV3_1 } from "openapi-types";

type Response = OpenAPIV3_1.ResponseObject;
type Reference = OpenAPIV3_1.ReferenceObject;

/** Headers by their names in a response, and as components. */
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
  "x-traces-without-root": {
    component: "TracesWithoutRoot",
    description:
      "The number of traces that have no root, because a parent that their calls name was never sent, and of which a call matches " +
      "filter and query, `trace_roots_only` aside. `limit` does not bound it",
    schema: { type: "string", pattern: "^[0-9]+$" },
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

interface SharedResponse {
  readonly name: string;
  readonly description: string;
  readonly schema?: string;
  readonly header?: HeaderName;
  readonly detail: unknown;
}

const withBody: Readonly<Record<string, SharedResponse>> = {
  "408": {
    name: "Stalled",
    description: "The body came too slowly",
    detail: "The body must come at 65536 bytes in 60000 ms or faster (CLIENT_STALL_TIMEOUT_MS).",
  },
  "413": {
    name: "TooLarge",
    description: "The body, or the requested response, is too large",
    detail: "The body is larger than the 1048576 bytes this route takes, decompressed.",
  },
  "415": {
    name: "UnsupportedMediaType",
    description: "The route does not accept this media type",
    detail: "This route takes application/json.",
  },
  "422": {
    name: "Invalid",
    description: "The request is invalid; the response lists its issues, a hundred at most",
    schema: "HTTPValidationError",
    detail: [{ loc: ["body", "project_id"], msg: "Field required", type: "missing" }],
  },
  "504": {
    name: "QueryLimit",
    description: "The query ran out of time or memory",
    detail: "The query ran out of time. Ask for less: fewer traces, a narrower filter, or a smaller limit.",
  },
};
const withParameters: Readonly<Record<string, SharedResponse>> = {
  "422": withBody["422"]!,
};
const withKey: Readonly<Record<string, SharedResponse>> = {
  "401": {
    name: "Unauthenticated",
    description: "The credentials are missing or wrong",
    header: "www-authenticate",
    detail: "Authentication failed",
  },
  "403": {
    name: "Forbidden",
    description: "The key does not permit this, or not in this project",
    detail: "This key may not use that project.",
  },
  "429": {
    name: "TooManyRequests",
    description: "The key or its address has sent too many requests",
    header: "retry-after",
    detail: "Too many requests. Try again later.",
  },
};
const always: Readonly<Record<string, SharedResponse>> = {
  "400": {
    name: "BadRequest",
    description: "The request is malformed, or its body is not JSON",
    detail: "The body is not JSON.",
  },
  "500": {
    name: "Bug",
    description: "A bug in Sumtree; the log has details under the request's id",
    detail: "Something went wrong on our side. Request id: 5f0c2b9e",
  },
  "503": {
    name: "Unavailable",
    description: "The store is not reachable, or the service is overloaded",
    header: "retry-after",
    detail: "The store is not reachable. Try again.",
  },
};
const notFound: Readonly<Record<string, SharedResponse>> = {
  "404": { name: "NotFound", description: "Not found", detail: "There is no such object." },
};

const alreadyRunning: Readonly<Record<string, SharedResponse>> = {
  "409": {
    name: "AlreadyRunning",
    description: "The same is being done already",
    detail: "A backup is being made. Try again when it is done.",
  },
};

const storageFull: Readonly<Record<string, SharedResponse>> = {
  "507": {
    name: "StorageFull",
    description:
      "The project stores as much as it may (`MAX_STORED_BYTES`), or the store's disk is almost full " +
      "(`MIN_FREE_DISK_BYTES`); trying again does not help",
    detail: "This project stores as much as it may. Delete some of it, or have the limit raised.",
  },
};

/** The responses that a route can give beside its own, by status. */
export function errorResponses(route: {
  readonly secured: boolean;
  readonly body: boolean;
  readonly parameters: boolean;
  readonly findsOne: boolean;
  readonly runsAlone: boolean;
  readonly stores: boolean;
}): Record<string, Reference> {
  const all = {
    ...(route.secured ? withKey : {}),
    ...(route.parameters ? withParameters : {}),
    ...(route.body ? withBody : {}),
    ...(route.findsOne ? notFound : {}),
    ...(route.runsAlone ? alreadyRunning : {}),
    ...(route.stores ? storageFull : {}),
    ...always,
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

/** The responses as components, by name. */
export const sharedResponses: Record<string, Response> = Object.fromEntries(
  [withKey, withBody, notFound, alreadyRunning, storageFull, always]
    .flatMap((responses) => Object.values(responses))
    .map(({ name, description, schema = "ErrorRes", header, detail }) => [
      name,
      {
        description,
        headers: headerRefs("x-request-id", ...(header === undefined ? [] : [header])),
        content: {
          "application/json": {
            schema: { $ref: `#/components/schemas/${schema}` },
            example: { detail },
          },
        },
      },
    ]),
);
