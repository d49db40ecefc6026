import { normalizePath } from "./apis/endpoint-paths.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";

/** Predicate: true if a request without a route of its own may be relayed. */
export type PassThrough = (request: { readonly method: string; readonly url: string }) => boolean;

/**
 * Builds the predicate from `[METHOD ]path` entries. An entry matches its path and subpaths literally, by any method if it
 * names none; `/` matches all.
 */
export function passThrough(list: readonly string[]): PassThrough {
  const entries = list.map((entry) => {
    const [path = "", method] = entry.split(" ").toReversed();
    return { method, path: path.replace(/\/+$/, "") };
  });
  return ({ method, url }) => {
    const requested = `${normalizePath(pathBehindPrefix(url))}/`;
    const by = method === "HEAD" ? "GET" : method;
    return entries.some(
      (entry) =>
        (entry.method === undefined || entry.method === by) && requested.startsWith(`${entry.path}/`),
    );
  };
}
