import type { IncomingMessage } from "node:http";
import { FREE } from "./apis/endpoint-paths.ts";
import { MODEL_APIS } from "./apis/model-apis.ts";

const PATHS = [...MODEL_APIS.map(({ path }) => path), ...FREE].join("|");
const ENDPOINT = new RegExp(`^/v1(?:${PATHS})(?=/?(?:[?]|$))`, "i");

/** Returns a request target with the path of a model endpoint in lower case, because some upstreams take any case. */
export function endpointTarget({ method }: Pick<IncomingMessage, "method">, target: string): string {
  return method === "POST" ? target.replace(ENDPOINT, (path) => path.toLowerCase()) : target;
}
