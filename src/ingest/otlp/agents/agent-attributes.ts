import { isExactInteger } from "../../../shared/json.ts";
import { textOf, type Attributes } from "../attributes.ts";
import { firstText } from "../usage-of-span.ts";
import type { Agent } from "./agent.ts";

/** Attributes of records and resources that are kept of every agent. None has content. */
const KEPT = `team.id team.name cost_center department organization.id
  vcs.repository.name vcs.repository.url.full vcs.ref.head.name vcs.ref.head.revision
  deployment.environment deployment.environment.name service.name service.version app.version terminal.type os.type host.arch
  model tool_name function_name success decision source query_source effort speed status_code attempt duration_ms ttft_ms
  error_type error.type prompt_length agent.name skill.name plugin.name mcp_server.name mcp_tool.name`.split(
  /\s+/,
);
/** An email names a person best, an id of an installation least. */
const USER =
  `user.email user.account_uuid user.account_id user.id enduser.id enduser.pseudo.id user_id cursor.user.id
  user.name`.split(/\s+/);

/** Selects the attributes of a record and its resource that are kept; the record's take precedence. */
export function keptAttributes(agent: Agent, resource: Attributes, attributes: Attributes): Attributes {
  const kept = [...KEPT, ...(agent.kept ?? [])].map(
    (key) => [key, attributes.get(key) ?? resource.get(key)] as const,
  );
  const own = [
    ["sumtree.agent", agent.name],
    ["sumtree.billing", billingOf(resource, attributes)],
  ] as const;
  return new Map([...kept, ...own].filter(([, value]) => isPlain(value)));
}

/** True for text, numbers and booleans. */
export function isPlain(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value) || isExactInteger(value);
}

/** As the resource says, else by how the user signed in; `undefined` if unknown. */
function billingOf(resource: Attributes, attributes: Attributes): "api" | "subscription" | undefined {
  const stated = attributes.get("billing") ?? resource.get("billing");
  if (stated === "api" || stated === "subscription") return stated;
  const signIn = firstText(attributes, ["auth_mode", "auth_type"]) ?? "";
  if (/^chatgpt|oauth/i.test(signIn)) return "subscription";
  return /api[-_]?key|vertex/i.test(signIn) ? "api" : undefined;
}

/** Reads the session; null if it is not named. `thread.id` is also the number of a thread of a process. */
export function sessionOf(agent: Agent, attributes: Attributes): string | null {
  const named = agent.session.map((key) => textOf(attributes.get(key)));
  return named.find((name) => name !== null && !/^\d+$/.test(name)) ?? null;
}

/** Reads who used an agent; `undefined` if it does not say. */
export function userOf(resource: Attributes, attributes: Attributes): string | undefined {
  const users = USER.map((key) => textOf(attributes.get(key)) ?? textOf(resource.get(key)));
  return users.find((user) => user !== null) ?? undefined;
}
