import { normalizePath } from "./apis/endpoint-paths.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";

/** Returns the entry that lets a request without a route of its own pass; undefined if none does. */
export type PassThrough = (request: { readonly method: string; readonly url: string }) => string | undefined;

/**
 * Matches requests to `[METHOD ]path` entries. An entry matches its path and subpaths literally, by any method if it
 * names none; `/` matches all.
 */
export function passThrough(list: readonly string[]): PassThrough {
  const entries = list.map((text) => {
    const [path = "", method] = text.split(" ").toReversed();
    return { text, method, path: path.replace(/\/+$/, "") };
  });
  return ({ method, url }) => {
    const requested = `${normalizePath(pathBehindPrefix(url))}/`;
    const by = method === "HEAD" ? "GET" : method;
    return entries.find(
      (entry) =>
        (entry.method === undefined || entry.method === by) && requested.startsWith(`${entry.path}/`),
    )?.text;
  };
}
