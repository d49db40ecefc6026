export const GROUPS = {
  llm: "model",
  provider: "provider",
  op_name: "operation",
  svc_user_id: "user",
  svc_run_id: "run",
  thread_id: "thread",
  trace_id: "trace",
  status: "status",
  api_key: "API key",
} as const;
type Named = keyof typeof GROUPS;

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
  return isNamed(group) ? GROUPS[group] : group;
}

export function isNamed(group: string): group is Named {
  return Object.hasOwn(GROUPS, group);
}
