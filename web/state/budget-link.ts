import type { UsageStats } from "../api/routes.ts";
import type { HrefTo } from "./url-state.ts";

/** Groups of usage that are scopes of a budget. */
const SCOPES = ["api_key", "svc_user_id"];

/** Address of a new budget of a group, or of the project without one; undefined: a budget has no such scope. */
export function budgetLink(hrefTo: HrefTo, key: UsageStats["groups"][number]["key"]): string | undefined {
  const [[scope, match] = ["project", ""], ...others] = Object.entries(key);
  const isScope = scope === "project" || (SCOPES.includes(scope) && match !== null);
  return isScope && others.length === 0
    ? hrefTo("settings", { budget: "new", scope, match: String(match) })
    : undefined;
}
