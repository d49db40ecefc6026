/*
 * Paths are compared as they are: the target of a request has been normalised (`http/request-target.ts`), and a path that is
 * written otherwise is another one.
 */

/** A path without its query and a final slash. */
export function normalizePath(url: string): string {
  return url.split("?", 1)[0]!.replace(/(?<=.)\/$/, "");
}

/** Whether the errors of a path, with or without `/v1`, are those of Anthropic's API. */
export function isAnthropicPath(url: string): boolean {
  return /^(?:\/v1)?\/messages(?:$|[/?])/.test(url);
}

/** Whether a path behind `/v1` is routed to the training upstream. */
export function isTrainingPath(path: string): boolean {
  return /^\/(?:preview|training)(?:$|[/?])/.test(path);
}

/** True for the list of models and for a model by its name, behind `/v1`. */
export function isModelsPath(path: string): boolean {
  return /^\/models(?:$|[/?])/.test(path);
}
