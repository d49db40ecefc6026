import type { UrlState } from "../state/url-state.ts";

const SHARED = [
  "window",
  "zone",
  "compare",
  "q",
  "fields",
  "sort",
  "order",
  "calls",
  "group",
  "measure",
  "as",
  "interval",
];

/** The options that lists share; those of a trace are left behind. */
export function sharedOptions(options: UrlState["options"]): UrlState["options"] {
  return Object.fromEntries(SHARED.map((name) => [name, options[name] ?? ""]));
}
