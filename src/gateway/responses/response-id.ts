import { createHash } from "node:crypto";
import { GATEWAY_ID_START, gatewayId } from "../../calls/events/gateway-id.ts";
import type { Project } from "../../shared/project.ts";
import { normalizePath } from "../apis/endpoint-paths.ts";

/** Request for a response by its id. */
export interface ResponseRequest {
  readonly id: string;
  /** The upstream returns the response itself. */
  readonly isSighting: boolean;
}

const BY_ID = /^\/responses\/([\w.:=~-]+)(\/cancel|\/input_items)?$/;
const SIGHTINGS: ReadonlySet<string> = new Set(["GET ", "POST /cancel"]);
const OTHERS: ReadonlySet<string> = new Set(["DELETE ", "GET /input_items"]);

/** Parses a request for a response by id; `undefined` for any other request. */
export function parseResponseRequest(method: string, path: string): ResponseRequest | undefined {
  const [, id, subpath = ""] = BY_ID.exec(normalizePath(path)) ?? [];
  const operation = `${method} ${subpath}`;
  const isSighting = SIGHTINGS.has(operation);
  return id !== undefined && (isSighting || OTHERS.has(operation)) ? { id, isSighting } : undefined;
}

/** Returns the index key of a response's call. No client can store a call under it. */
export function responseKeyName(upstream: string, id: string): string {
  return `${GATEWAY_ID_START}/response/${upstream}/${id}`;
}

/** Derives call and trace id of a response created elsewhere, deterministically. */
export function idsOfForeign(
  project: Project,
  upstream: string,
  id: string,
): { callId: string; traceId: string } {
  const hash = createHash("sha256")
    .update(JSON.stringify([project, upstream, id]))
    .digest("hex");
  const callId = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    hash.slice(12, 16),
    hash.slice(16, 20),
    hash.slice(20, 32),
  ];
  return { callId: gatewayId(callId.join("-")), traceId: hash.slice(32) };
}
