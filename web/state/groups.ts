import type { BodyOf, UsageStats } from "../api/routes.ts";
import { shortName } from "../format/op-name.ts";

interface NamedGroup {
  readonly name: string;
  /** Field of a search for one of its values; undefined: none. */
  readonly field?: string;
  /** It is known of calls alone. */
  readonly isOfCalls?: boolean;
  /** Names under which SDKs send it. */
  readonly sentAs?: string;
}

/** Messages of exceptions; those of one pattern are one group. */
export const ERROR = "exception";

const NAMED: Readonly<Record<string, NamedGroup>> = {
  llm: { name: "model", field: "model", isOfCalls: true },
  provider: { name: "provider", isOfCalls: true },
  op_name: { name: "operation", field: "op" },
  svc_user_id: { name: "user", field: "user", sentAs: "wb_user_id, in OpenTelemetry user.id" },
  svc_run_id: { name: "run", field: "run", sentAs: "wb_run_id" },
  thread_id: { name: "thread", field: "thread", sentAs: "thread_id, in OpenTelemetry session.id" },
  trace_id: { name: "trace", field: "trace" },
  status: { name: "status", field: "status" },
  api_key: { name: "API key" },
  [ERROR]: { name: "error", field: "error" },
  "attributes.version": { name: "version", field: "attributes.version" },
  "attributes.team.id": { name: "team", field: "attributes.team.id" },
  "attributes.vcs.repository.name": { name: "repository", field: "attributes.vcs.repository.name" },
  "attributes.vcs.ref.head.name": { name: "branch", field: "attributes.vcs.ref.head.name" },
  "attributes.tool_name": { name: "tool", field: "attributes.tool_name", isOfCalls: true },
  "attributes.sumtree.billing": { name: "billing", field: "attributes.sumtree.billing" },
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

/** Groups of what coding agents cost, as labels of buttons. */
export const OF_AGENTS: Readonly<Record<string, string>> = {
  "attributes.team.id": "Team",
  "attributes.vcs.repository.name": "Repo",
  "attributes.vcs.ref.head.name": "Branch",
  thread_id: "Session",
  "attributes.tool_name": "Tool",
  "attributes.sumtree.billing": "Billing",
};

/** Usage counts calls by their own fields, or whole traces by those of their roots. */
export type Subject = "calls" | "traces";

/** Traces, unless a group is of calls alone or the address says otherwise. */
export function subjectOf(groups: readonly string[], of: string | undefined): Subject {
  return of === "calls" || !canBeOfTraces(groups) ? "calls" : "traces";
}

export function canBeOfTraces(groups: readonly string[]): boolean {
  return !groups.some((group) => Object.hasOwn(NAMED, group) && NAMED[group]!.isOfCalls === true);
}

/** Members under which SDKs send a field. */
export function sentAs(group: string): string | undefined {
  return Object.hasOwn(NAMED, group) && !group.includes(".") ? NAMED[group]!.sentAs : group;
}

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
  const isNamed = Object.hasOwn(NAMED, group) && group !== ERROR && !group.includes(".");
  return isNamed ? (group as "llm") : { $getField: group };
}

/** The name of a group: its values. */
export function labelOf(key: UsageStats["groups"][number]["key"]): string {
  const values = Object.entries(key).map(([group, value]) =>
    value === null ? "(none)" : group === "op_name" ? shortName(String(value), null) : String(value),
  );
  return values.length === 0 ? "all" : values.join(" · ");
}
