import type { App } from "../../src/app.ts";
import { scoreOf } from "./sample-feedback.ts";
import { agentLogs, agentMetrics } from "./sample-agent.ts";
import { failedRun, longContextRun, runningAgent, sdkRun, supportRun } from "./sample-traces.ts";

export const PROJECT = "acme/demo";
/** Sessions of coding agents. */
export const AGENTS_PROJECT = "acme/agents";
const HOUR_MS = 3_600_000;

/** The samples are sent over the API, like any client's data. */
export async function loadSamples(app: App, rootKey: string): Promise<void> {
  const now = Date.now();
  const runs = Array.from({ length: 48 }, (_, run) => ({
    id: `support-${run + 1}`,
    atMs: now - (run + 1) * HOUR_MS,
  }));
  const calls = [
    ...runs.flatMap(({ id, atMs }) => supportRun(id, atMs, "Where is my parcel?")),
    ...sdkRun("report-1", now - 2 * HOUR_MS),
    ...longContextRun("contract-1", now - 3 * HOUR_MS),
    ...failedRun("refund-1", now - 4 * HOUR_MS),
    ...runningAgent("research-1", now - 60_000),
  ];
  await post(app, rootKey, `/v2/${PROJECT}/calls/complete`, { batch: calls });
  const scores = runs.map(({ id, atMs }) => scoreOf(PROJECT, `${id}-agent`, atMs + 10_000));
  await post(app, rootKey, "/feedback/batch/create", { batch: scores });
  const sessions = [
    { id: "s1", user: "ada@example.com", team: "payments", atMs: now - 5 * HOUR_MS },
    { id: "s2", user: "ada@example.com", team: "payments", atMs: now - 29 * HOUR_MS },
    { id: "s3", user: "lin@example.com", team: "search", atMs: now - 6 * HOUR_MS },
  ];
  for (const session of sessions) {
    await post(app, rootKey, `/otel/v1/logs`, agentLogs(AGENTS_PROJECT, session));
    await post(app, rootKey, `/otel/v1/metrics`, agentMetrics(AGENTS_PROJECT, session));
  }
  const budget = { name: "Demo", scope: "project", limit: { usd: 25 }, window: "month" };
  await post(app, rootKey, "/budget/create", { project_id: PROJECT, ...budget });
}

async function post(app: App, key: string, path: string, body: object): Promise<void> {
  const response = await app.inject({
    method: "POST",
    url: path,
    headers: { authorization: `Bearer ${key}` },
    payload: body,
  });
  const { rejected = [] } = response.json<{ rejected?: readonly unknown[] }>();
  if (response.statusCode !== 200 || rejected.length > 0) {
    throw new Error(`${path} answered ${response.statusCode}: ${response.payload}`);
  }
}
