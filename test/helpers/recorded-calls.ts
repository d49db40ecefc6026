import { expect } from "vitest";
import { authorization, type TestApp } from "./start-app.ts";
import { until } from "./until.ts";

/** A call that the gateway recorded. */
export interface RecordedCall {
  readonly id: string;
  readonly op_name: string;
  readonly thread_id: string | null;
  readonly wb_user_id: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly exception: string | null;
  readonly inputs: object;
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly attributes: { readonly sumtree: Readonly<Record<string, unknown>> };
  readonly summary: { readonly usage: object };
}

type Used = Readonly<Record<string, Readonly<Record<string, number>>>>;
type Service = Pick<TestApp, "post" | "app">;

export async function callsOf(test: Pick<TestApp, "post">, project_id: string): Promise<RecordedCall[]> {
  const { text } = await test.post("/calls/stream_query", { project_id });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RecordedCall);
}

/** The calls of a project, once there are so many. Errors: there are more. */
export async function awaitCalls(test: Service, project: string, count: number): Promise<RecordedCall[]> {
  await nothingPending(test);
  await until(async () => (await callsOf(test, project)).length >= count);
  const calls = await callsOf(test, project);
  expect(calls).toHaveLength(count);
  return calls;
}

export async function metricsOf({ app }: Pick<TestApp, "app">): Promise<string> {
  return (await app.inject({ url: "/metrics", headers: { authorization: authorization() } })).payload;
}

/** Waits until what has ended is recorded: less work than to ask for it again and again. */
export async function nothingPending(test: Pick<TestApp, "app">): Promise<void> {
  await until(async () => /gateway_completions_pending 0$/m.test(await metricsOf(test)));
}

/** Waits until the gateway has no open request, and nothing to record. */
export async function nothingLeft(test: Pick<TestApp, "app">): Promise<void> {
  await until(async () => {
    const text = await metricsOf(test);
    return /gateway_open_requests 0$/m.test(text) && /gateway_completions_pending 0$/m.test(text);
  });
}

/** The only call of a project, with its usage as `/trace/usage` tells it. */
export async function onlyCall(test: Service, project: string): Promise<RecordedCall & { used: Used }> {
  const [call] = await awaitCalls(test, project, 1);
  return { ...call!, used: (await usageOf(test, project)).call_usage[call!.id] ?? {} };
}

interface TraceUsage {
  readonly call_usage: Readonly<Record<string, Used>>;
  readonly unfinished_call_ids: readonly string[];
}

export async function usageOf(
  test: Pick<TestApp, "post">,
  project_id: string,
  more: object = {},
): Promise<TraceUsage> {
  return (await test.post("/trace/usage", { project_id, ...more })).json() as TraceUsage;
}

/** A key of these projects, which may train, administer and read. */
export async function keyOf(
  test: Pick<TestApp, "post">,
  projects: readonly string[],
  scopes: readonly string[] = ["train", "admin", "read"],
): Promise<string> {
  return (await test.post("/api-keys", { name: "key", scopes, projects })).json().key as string;
}
