import type { Address } from "../state/address.ts";

const SHARED = [
  "window",
  "zone",
  "compare",
  "q",
  "sort",
  "order",
  "calls",
  "group",
  "measure",
  "as",
  "interval",
];

/** The options that lists share; those of a trace are left behind. */
export function sharedOptions(options: Address["options"]): Address["options"] {
  return Object.fromEntries(SHARED.map((name) => [name, options[name] ?? ""]));
}
