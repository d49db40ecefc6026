import { isOfAccount } from "./doors/paths.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";

/** Whether a request for a path that the interface does not have may go upstream. */
export type PassThrough = (request: { readonly method: string; readonly url: string }) => boolean;

/** In a list of paths: every path but those of the operator's account with the provider. */
export const OTHERS = "others";

/**
 * A path of the list passes with everything below it, by any method unless the entry begins with one; `/` is every path.
 * Another spelling of a path is another path.
 */
export function passThrough(list: readonly string[]): PassThrough {
  const withOthers = list.includes(OTHERS);
  const entries = list
    .filter((entry) => entry !== OTHERS)
    .map((entry) => {
      const [path = "", method] = entry.split(" ").toReversed();
      return { method, path: path.replace(/\/+$/, "") };
    });
  return ({ method, url }) => {
    const asked = pathBehindPrefix(url).split("?", 1)[0]!;
    const by = method === "HEAD" ? "GET" : method;
    const isListed = entries.some(
      (entry) =>
        (entry.method === undefined || entry.method === by) &&
        asked.startsWith(entry.path) &&
        /^(?:$|[/:])/.test(asked.slice(entry.path.length)),
    );
    return isListed || (withOthers && !isOfAccount(asked));
  };
}
