import { normalizePath } from "./apis/endpoint-paths.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";

/** Whether a request for a path that the interface does not have may go upstream. */
export type PassThrough = (request: { readonly method: string; readonly url: string }) => boolean;

/**
 * A path of the list passes with everything below it, by any method unless the entry begins with one; `/` is every path.
 * Another spelling of a path is another path.
 */
export function passThrough(list: readonly string[]): PassThrough {
  const entries = list.map((entry) => {
    const [path = "", method] = entry.split(" ").toReversed();
    return { method, path: path.replace(/\/+$/, "") };
  });
  return ({ method, url }) => {
    const asked = `${normalizePath(pathBehindPrefix(url))}/`;
    const by = method === "HEAD" ? "GET" : method;
    return entries.some(
      (entry) => (entry.method === undefined || entry.method === by) && asked.startsWith(`${entry.path}/`),
    );
  };
}
