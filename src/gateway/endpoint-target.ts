import type { IncomingMessage } from "node:http";
import { FREE } from "./apis/endpoint-paths.ts";
import { MODEL_APIS } from "./apis/model-apis.ts";
import { withoutQueryKey } from "./relay/credentials.ts";

const PATHS = [...MODEL_APIS.map(({ path }) => path), ...FREE];
const ENDPOINT = new RegExp(`^/v1(?:${PATHS.join("|")})(?=/?(?:[?]|$))`, "i");
const AS_USUAL: ReadonlySet<string> = new Set(PATHS.map((path) => `/v1${path}`));

/** The escape of the colon between model and verb. */
const COLON = /^(\/v1(?:beta)?\/(?:models|tunedModels)\/[^/?]+)%3a(?=[a-z]+\/?(?:\?|$))/i;

/**
 * Returns a request target with the path of a model endpoint in lower case, because some upstreams take any case, and with
 * the colon of Gemini's API, without a key in its query.
 */
export function endpointTarget(
  { method, headers }: Pick<IncomingMessage, "method" | "headers">,
  target: string,
): string {
  if (AS_USUAL.has(target)) return target;
  if (method !== "POST") return withoutQueryKey(headers, target);
  const plain = target.replace(ENDPOINT, (path) => path.toLowerCase()).replace(COLON, "$1:");
  return withoutQueryKey(headers, plain);
}
