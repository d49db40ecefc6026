import type { ServiceProcess } from "./service-process.ts";
import { authorization } from "./start-app.ts";

export const TOKENS_PER_CALL = 7;

/** The members of a whole call that used `TOKENS_PER_CALL`. */
export function completeCall(project_id: string, id: string, trace_id: string, more: object = {}): object {
  return {
    project_id,
    id,
    trace_id,
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    ended_at: "2026-01-01T00:00:01Z",
    summary: { usage: { m: { requests: 1, prompt_tokens: TOKENS_PER_CALL, completion_tokens: 0 } } },
    ...more,
  };
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- assertions look into answers of any shape
  readonly json: any;
}

/** One POST; status 0 when there was no answer. */
export async function send(
  service: ServiceProcess,
  path: string,
  body: unknown,
  { key, method = "POST" }: { key?: string; method?: string } = {},
): Promise<Reply> {
  try {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: authorization(key), "content-type": "application/json" },
      ...(method === "GET" || method === "DELETE" ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined };
  } catch (error) {
    return { status: 0, text: String(error), json: undefined };
  }
}

/** Stores calls, or says why not. */
export function complete(service: ServiceProcess, calls: readonly object[]): Promise<Reply> {
  return send(service, "/v2/acme/app/calls/complete", { batch: calls });
}

/** How long a loaded machine may take to do what is refused at first, and can be sent again. */
const INSIST_MS = 90_000;

/** Sends until it is acknowledged. */
export async function retry(
  service: ServiceProcess,
  path: string,
  body: unknown,
  { method = "POST", status = 200 }: { method?: string; status?: number } = {},
): Promise<Reply> {
  const sent = await untilDone(() => send(service, path, body, { method }), {
    withinMs: INSIST_MS,
    status: [status],
  });
  return sent.reply;
}

/** Stores calls. */
export async function store(service: ServiceProcess, calls: readonly object[]): Promise<void> {
  await retry(service, "/v2/acme/app/calls/complete", { batch: calls });
}

/** The ids that `/trace/usage` tells of, with their tokens. */
export async function tokensOf(
  service: ServiceProcess,
  project_id: string,
  filter: object = {},
): Promise<Map<string, number>> {
  const { status, text, json } = await send(service, "/trace/usage", {
    project_id,
    filter,
    limit: 1_000_000,
  });
  if (status !== 200) throw new Error(`${status} ${text}`);
  const usage = json.call_usage as Record<string, Record<string, { total_tokens: number }>>;
  return new Map(Object.entries(usage).map(([id, own]) => [id, own["m"]?.total_tokens ?? 0]));
}

/** Tries until it succeeds; how long that took, and how long the longest try took, in milliseconds. */
export async function untilDone(
  attempt: () => Promise<Reply>,
  { withinMs, status = [200] }: { withinMs: number; status?: readonly number[] },
): Promise<{ reply: Reply; tookMs: number; longestMs: number }> {
  const beganMs = performance.now();
  let longestMs = 0;
  for (;;) {
    const triedMs = performance.now();
    const reply = await attempt();
    longestMs = Math.max(longestMs, performance.now() - triedMs);
    const tookMs = performance.now() - beganMs;
    if (status.includes(reply.status)) return { reply, tookMs, longestMs };
    if (tookMs > withinMs) throw new Error(`not within ${withinMs} ms: ${reply.status} ${reply.text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A server with its own defaults keeps replaced parts for eight minutes, and looks for them every five. */
export const RECEIPT_MS = 900_000;

/** Waits until a deletion's receipt says that no replica holds anything any more. */
export async function untilErased(service: ServiceProcess, receipt: string): Promise<void> {
  await untilDone(
    async () => {
      const reply = await send(service, `/deletions/${receipt}`, undefined, { method: "GET" });
      return { ...reply, status: reply.json?.state === "done" ? 200 : 1 };
    },
    { withinMs: RECEIPT_MS },
  );
}
