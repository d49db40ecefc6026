import type { BodyOf, UsageStats } from "../api/routes.ts";

/** Groups with a name: its text, and the field of a search for one of their values; undefined: none. */
const NAMED: Readonly<Record<string, { readonly name: string; readonly field?: string }>> = {
  llm: { name: "model", field: "model" },
  provider: { name: "provider" },
  op_name: { name: "operation", field: "op" },
  svc_user_id: { name: "user", field: "user" },
  svc_run_id: { name: "run", field: "run" },
  thread_id: { name: "thread", field: "thread" },
  trace_id: { name: "trace", field: "trace" },
  status: { name: "status", field: "status" },
  api_key: { name: "API key" },
  "attributes.version": { name: "version", field: "attributes.version" },
};
export const GROUPS = Object.keys(NAMED);

/** The most frequent groups, as labels of buttons. */
export const FREQUENT = {
  llm: "Model",
  svc_user_id: "User",
  op_name: "Operation",
  "attributes.version": "Version",
} as const;
export type Frequent = keyof typeof FREQUENT;

/** The limit of the route. */
export const MAX_GROUPS = 4;
const NONE = "none";
const DEFAULT_GROUPS: readonly string[] = ["llm"];

/** `llm,attributes.tenant`, as an address has it. */
export function readGroups(text: string | undefined): readonly string[] {
  if (text === undefined || text === "") return DEFAULT_GROUPS;
  return text === NONE ? [] : [...new Set(text.split(",").filter(Boolean))].slice(0, MAX_GROUPS);
}

export function printGroups(groups: readonly string[]): string {
  return groups.length === 0 ? NONE : groups.join(",");
}

export function nameOfGroup(group: string): string {
  return Object.hasOwn(NAMED, group) ? NAMED[group]!.name : group;
}

/** The field of a search; undefined: none has the values of the group. */
export function fieldOfGroup(group: string): string | undefined {
  return Object.hasOwn(NAMED, group) ? NAMED[group]!.field : group.includes(".") ? group : undefined;
}

/** A named group, or a field of calls, as a route takes it. */
export function groupBy(group: string): NonNullable<BodyOf<"/usage/stats">["group_by"]>[number] {
  const isNamed = Object.hasOwn(NAMED, group) && !group.includes(".");
  return isNamed ? (group as "llm") : { $getField: group };
}

/** The name of a group: its values. */
export function labelOf(key: UsageStats["groups"][number]["key"]): string {
  const values = Object.values(key).map((value) => (value === null ? "(none)" : String(value)));
  return values.length === 0 ? "all" : values.join(" · ");
}
