import type { UsageStats } from "../api/routes.ts";
import { withCondition, type Condition } from "../state/search.ts";

type Key = UsageStats["groups"][number]["key"];

const FIELD_OF: Readonly<Record<string, string>> = {
  llm: "model",
  op_name: "op",
  svc_user_id: "user",
  svc_run_id: "run",
  thread_id: "thread",
  turn_id: "turn",
  trace_id: "trace",
  status: "status",
};
const STATUS_OF: Readonly<Record<string, string>> = { error: "failed" };

/** The search that leaves only the calls of a group; undefined where a member of its key is no field of calls. */
export function searchOfGroup(text: string, key: Key): string | undefined {
  let search = text;
  for (const [group, value] of Object.entries(key)) {
    const condition = conditionOf(group, value);
    if (condition === undefined) return undefined;
    search = withCondition(search, condition);
  }
  return search;
}

function conditionOf(group: string, value: Key[string] | undefined): Condition | undefined {
  const field = Object.hasOwn(FIELD_OF, group) ? FIELD_OF[group] : group.includes(".") ? group : undefined;
  if (field === undefined) return undefined;
  if (field === "status" && value === "descendant_error") return undefined;
  const text = value == null ? null : String(value);
  return {
    field,
    op: ":",
    value: field === "status" && text !== null ? (STATUS_OF[text] ?? text) : text,
    isNot: false,
  };
}

/** Next dimension to group a group's calls by. */
export function nextGroup(groups: readonly string[]): string {
  const order = ["llm", "op_name", "svc_user_id", "trace_id"];
  return order.find((one) => !groups.includes(one)) ?? "trace_id";
}
