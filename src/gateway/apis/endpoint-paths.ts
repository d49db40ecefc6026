/*
 * Paths are compared literally: `http/request-target.ts` has normalized the request target, so another spelling is another
 * path.
 */

/** Provider format of an endpoint's errors and model list. */
export type Api = "openai" | "anthropic" | "gemini";

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

/** Model and verb at the end of a path of Gemini's API. */
const GEMINI_CALL =
  /^(?:\/v1(?:beta)?)?\/(?:models|tunedModels)\/([^/?]+):(generateContent|streamGenerateContent|embedContent|batchEmbedContents|countTokens)\/?(?:$|\?)/i;

export interface GeminiCall {
  readonly model: string;
  readonly verb: string;
}

/** Returns model and verb of a path of Gemini's API, with or without `/v1`. */
export function geminiCallIn(url: string): GeminiCall | undefined {
  const [, model, verb] = GEMINI_CALL.exec(url) ?? [];
  return model === undefined || verb === undefined ? undefined : { model, verb };
}

/** Returns the API of a path, with or without `/v1`, which decides its upstream and the format of its errors. */
export function apiOfPath(url: string): Api {
  if (/^\/v1beta(?:$|[/?])/.test(url) || geminiCallIn(url) !== undefined) return "gemini";
  return /^(?:\/v1)?\/messages(?:$|[/?])/.test(url) ? "anthropic" : "openai";
}

/** True if a path (without `/v1`) is routed to the training upstream. */
export function isTrainingPath(path: string): boolean {
  return /^\/(?:preview|training|system-check)(?:$|[/?])/.test(path);
}

/** True for the model list and for a single model (path without `/v1`). */
export function isModelsPath(path: string): boolean {
  return /^(?:\/v1beta)?\/models(?:$|[/?])/.test(path);
}
