import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { CompletionAttributes } from "./recorded-completion.ts";

/** Session and agent of a request, from headers of coding agents and SDKs. */
export interface Caller {
  readonly threadId: string | undefined;
  readonly attributes: Partial<CompletionAttributes>;
}

/** Trace id and parent call id of a completion. */
export interface TraceContext {
  readonly traceId: string;
  readonly parentId: string | null;
  /** The request names no trace, so nobody else knows this one. */
  readonly isNew: boolean;
}

const MAX_LENGTH = 256;

export function readCaller(headers: IncomingHttpHeaders): Caller {
  const first = (...names: string[]): string | undefined => names.map((name) => headers[name]).find(isNaming);
  const parentThread = first("x-codex-parent-thread-id");
  const retries = Number(first("x-stainless-retry-count") ?? 0);
  return {
    threadId: first("x-claude-code-session-id", "session_id", "session-id", "x-session-id"),
    attributes: {
      // in Codex, a subagent is a thread of its own in the session of its parent
      agent_id: first("x-claude-code-agent-id", ...(parentThread === undefined ? [] : ["thread-id"])),
      parent_agent_id: first("x-claude-code-parent-agent-id", "x-parent-session-id") ?? parentThread,
      client_request_id: first("x-client-request-id"),
      retry_count: Number.isSafeInteger(retries) && retries > 0 ? retries : undefined,
      billing: isSubscription(headers) ? "subscription" : undefined,
    },
  };
}

function isNaming(value: string | string[] | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_LENGTH;
}

/** True for Claude and ChatGPT sign-ins, which are billed monthly. */
function isSubscription(headers: IncomingHttpHeaders): boolean {
  const isClaude = /^bearer +sk-ant-oat/i.test(headers.authorization ?? "");
  return headers["x-sumtree-key"] !== undefined && (isClaude || headers["chatgpt-account-id"] !== undefined);
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-|$)/;

/**
 * Reads the trace context; `x-sumtree-*` headers override `traceparent`. Invalid ids are ignored, because accounting never
 * rejects a completion. Source: https://www.w3.org/TR/trace-context/
 */
export function readTraceContext(headers: IncomingHttpHeaders): TraceContext {
  const traceId = saneId(headers["x-sumtree-trace-id"]);
  const parentId = saneId(headers["x-sumtree-parent-id"]);
  if (traceId !== undefined) return { traceId, parentId: parentId ?? null, isNew: false };
  const [, trace, parent] = TRACEPARENT.exec(String(headers["traceparent"]).trim().toLowerCase()) ?? [];
  if (trace === undefined || parent === undefined)
    return { traceId: randomUUID().replaceAll("-", ""), parentId: null, isNew: true };
  return { traceId: trace, parentId: parentId ?? parent, isNew: false };
}

function saneId(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" && /^[\w.:/+=@-]{1,256}$/.test(value) ? value : undefined;
}
