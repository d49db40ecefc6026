import { isJsonObject } from "../../shared/json.ts";

const INCLUSIVE_SOURCES = new Set(["js-sdk", "python-sdk"]);

/**
 * True for calls of the Weave SDKs, which add every child's usage to the parent unless `server-side-rollup` is set. Source:
 * attributes of recorded requests of npm `weave` 0.11.1.
 */
export function reportsInclusiveUsage(attributes: unknown): boolean {
  const weave = isJsonObject(attributes) ? attributes["weave"] : undefined;
  if (!isJsonObject(weave) || weave["server-side-rollup"] === true) return false;
  return typeof weave["source"] === "string" && INCLUSIVE_SOURCES.has(weave["source"]);
}
