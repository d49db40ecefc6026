import type { IncomingHttpHeaders } from "node:http";
import type { CompletionAttributes } from "./recorded-completion.ts";

/** Session and agent of a request, from headers of coding agents and SDKs. */
export interface Caller {
  readonly threadId: string | undefined;
  readonly attributes: Partial<CompletionAttributes>;
}

const MAX_LENGTH = 256;
const SESSIONS = ["x-claude-code-session-id", "session_id", "session-id", "x-session-id"];

export function readCaller(headers: IncomingHttpHeaders): Caller {
  const parentThread = first(headers, ["x-codex-parent-thread-id"]);
  // in Codex, a subagent is a thread of its own in the session of its parent
  const agent = first(headers, [
    "x-claude-code-agent-id",
    ...(parentThread === undefined ? [] : ["thread-id"]),
  ]);
  const parent = first(headers, ["x-claude-code-parent-agent-id", "x-parent-session-id"]) ?? parentThread;
  const retries = Number(first(headers, ["x-stainless-retry-count"]) ?? 0);
  return {
    threadId: first(headers, SESSIONS),
    attributes: {
      ...(agent === undefined ? {} : { agent_id: agent }),
      ...(parent === undefined ? {} : { parent_agent_id: parent }),
      ...(Number.isSafeInteger(retries) && retries > 0 ? { retry_count: retries } : {}),
      ...(isSubscription(headers) ? { billing: "subscription" } : {}),
    },
  };
}

/** True for Claude and ChatGPT sign-ins, which are billed monthly. */
function isSubscription(headers: IncomingHttpHeaders): boolean {
  const own = headers["x-sumtree-key"] !== undefined;
  return (
    own &&
    (/^bearer +sk-ant-oat/i.test(headers.authorization ?? "") || headers["chatgpt-account-id"] !== undefined)
  );
}

function first(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  const values = names.map((name) => headers[name]);
  return values.find(
    (value): value is string => typeof value === "string" && value !== "" && value.length <= MAX_LENGTH,
  );
}
