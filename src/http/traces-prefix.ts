import type { IncomingMessage } from "node:http";

/**
 * The Weave SDKs make `https://HOST/traces` of a host's name, so every route is there as well.
 * Source: npm `weave` 0.11.1, its handling of WANDB_BASE_URL.
 */
export function withoutTracesPrefix(request: IncomingMessage): string {
  const url = request.url ?? "/";
  return url.startsWith("/traces/") ? url.slice("/traces".length) : url;
}
