import { isJsonObject } from "../../shared/json.ts";

const ADDS_CHILDREN = new Set(["js-sdk", "python-sdk"]);

/**
 * True for calls of the Weave SDKs, which add every child's usage to the parent before they send it, unless they say
 * that the server rolls up. Source: attributes of recorded requests of npm `weave` 0.11.1.
 */
export function reportsInclusiveUsage(attributes: unknown): boolean {
  const weave = isJsonObject(attributes) ? attributes["weave"] : undefined;
  if (!isJsonObject(weave) || weave["server-side-rollup"] === true) return false;
  return typeof weave["source"] === "string" && ADDS_CHILDREN.has(weave["source"]);
}
