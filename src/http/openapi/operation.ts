import type { OpenAPIV3_1 } from "openapi-types";

type Content = Record<string, OpenAPIV3_1.MediaTypeObject>;

/** What a route is called in the description, and what it is for. */
export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** What a success says, in a few words. */
  readonly response: string;
  /** The response has `x-truncated`: why it may not be complete. */
  readonly truncated?: string;
  /** The response has `x-traces-without-root`. */
  readonly tellsRoots?: boolean;
  /** The response has `x-next-page-token`. */
  readonly hasPages?: boolean;
  /** Of its bodies, when they are JSON. Checked against their schemas, and sent to the service, by the tests. */
  readonly example: { readonly request?: unknown; readonly response?: unknown };
  /** What its bodies may be beside JSON. */
  readonly also?: { readonly request?: Content; readonly response?: Content };
}

/** By method and path. */
export type Operations = Readonly<Record<string, Operation>>;
