/*
 * Paths are compared literally: `http/request-target.ts` has normalized the request target, so another spelling is another
 * path.
 */

/** Paths that are free at every provider. */
export const FREE: ReadonlySet<string> = new Set(["/messages/count_tokens", "/responses/input_tokens"]);

/** Removes the query and a trailing slash from a path. */
export function normalizePath(url: string): string {
  return url.split("?", 1)[0]!.replace(/(?<=.)\/$/, "");
}

/** True if an endpoint (without `/v1`) takes a form in place of JSON. */
export function takesForm(path: string): boolean {
  return /^\/(?:audio\/(?:transcriptions|translations)|images\/(?:edits|variations))$/.test(
    normalizePath(path),
  );
}

/** True if errors of this path, with or without `/v1`, use Anthropic's format. */
export function isAnthropicPath(url: string): boolean {
  return /^(?:\/v1)?\/messages(?:$|[/?])/.test(url);
}

/** True if a path (without `/v1`) is routed to the training upstream. */
export function isTrainingPath(path: string): boolean {
  return /^\/(?:preview|training|system-check)(?:$|[/?])/.test(path);
}

/** True for the model list and for a single model (path without `/v1`). */
export function isModelsPath(path: string): boolean {
  return /^\/models(?:$|[/?])/.test(path);
}
