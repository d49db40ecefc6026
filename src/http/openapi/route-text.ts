/** Descriptions of a route that `@fastify/swagger` has no option for. */
export interface RouteText {
  /** Description of the success response. */
  readonly success?: string;
  /** Examples of JSON bodies. Tests check them against their schemas and send them. */
  readonly example?: { readonly request?: unknown; readonly response?: unknown };
  /** Media types of request and response besides JSON. */
  readonly alsoTakes?: string;
  readonly alsoSends?: string;
  /** The response has `x-truncated`, the reason why it may be incomplete. */
  readonly truncated?: string;
  /** The response has `x-next-page-token`. */
  readonly hasPages?: boolean;
  /** Name of the response for errors; default: `Error`. */
  readonly errorResponse?: string;
}

declare module "fastify" {
  // eslint-disable-next-line typescript/no-empty-object-type
  interface FastifySchema extends RouteText {}
  interface FastifyContextConfig {
    /** The group of routes in `openapi.json`; `operations` if not set. */
    tag?: string;
  }
}

/** Names the schemas of routes by their keys. */
export function routeSchemas<S extends Readonly<Record<string, RouteText>>>(schemas: S) {
  const named = Object.entries(schemas).map(([operationId, schema]) => [
    operationId,
    { operationId, ...schema },
  ]);
  return Object.fromEntries(named) as { [Id in keyof S]: S[Id] & { readonly operationId: string } };
}
