import { createHash } from "node:crypto";
import { GATEWAY_ID_START, gatewayId } from "../../calls/events/gateway-id.ts";
import type { Project } from "../../shared/project.ts";
import { normalizePath } from "../apis/endpoint-paths.ts";

/** What a request asks of a response by its id. */
export interface AskedResponse {
  readonly id: string;
  /** Its answer is the response itself. */
  readonly isSighting: boolean;
}

const BY_ID = /^\/responses\/([\w.:=~-]+)(\/cancel|\/input_items)?$/;
const SIGHTINGS: ReadonlySet<string> = new Set(["GET ", "POST /cancel"]);
const OTHERS: ReadonlySet<string> = new Set(["DELETE ", "GET /input_items"]);

/** Undefined if it is nothing that can be asked of a response. */
export function askedResponse(method: string, path: string): AskedResponse | undefined {
  const [, id, below = ""] = BY_ID.exec(normalizePath(path)) ?? [];
  const asks = `${method} ${below}`;
  const isSighting = SIGHTINGS.has(asks);
  return id !== undefined && (isSighting || OTHERS.has(asks)) ? { id, isSighting } : undefined;
}

/** The id under which the place of a response's call is noted, beside those of calls, where no client can put one. */
export function noteId(upstream: string, id: string): string {
  return `${GATEWAY_ID_START}/response/${upstream}/${id}`;
}

/** The id of the call, and of the trace, of a response that was made elsewhere: the same wherever it is seen. */
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
