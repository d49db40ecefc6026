import { scoreOf } from "./sample-feedback.ts";
import { agentLogs, agentMetrics } from "./sample-agent.ts";
import { answersOf, modelOf, pricesOf, ratedAnswers } from "./sample-training.ts";
import { failedRun, longContextRun, runningAgent, sdkRun, supportRun } from "./sample-traces.ts";

export const PROJECT = "acme/demo";
/** Sessions of coding agents. */
export const AGENTS_PROJECT = "acme/agents";
/** A model that was trained on its rated answers. */
export const TRAINING_PROJECT = "acme/parcels";
const HOUR_MS = 3_600_000;

interface Service {
  readonly url: string;
  readonly key: string;
}

/** The samples are sent over the API, like any client's data. */
export async function loadSamples({ url, key }: Service): Promise<void> {
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
  await post({ url, key }, `/v2/${PROJECT}/calls/complete`, { batch: calls });
  const scores = runs.map(({ id, atMs }) => scoreOf(PROJECT, `${id}-agent`, atMs + 10_000));
  await post({ url, key }, "/feedback/batch/create", { batch: scores });
  const sessions = [
    { id: "s1", user: "ada@example.com", team: "payments", atMs: now - 5 * HOUR_MS },
    { id: "s2", user: "ada@example.com", team: "payments", atMs: now - 29 * HOUR_MS },
    { id: "s3", user: "lin@example.com", team: "search", atMs: now - 6 * HOUR_MS },
  ];
  for (const session of sessions) {
    await post({ url, key }, `/otel/v1/logs`, agentLogs(AGENTS_PROJECT, session));
    await post({ url, key }, `/otel/v1/metrics`, agentMetrics(AGENTS_PROJECT, session));
  }
  const budget = { name: "Demo", scope: "project", limit: { usd: 25 }, window: "month" };
  await post({ url, key }, "/budget/create", { project_id: PROJECT, ...budget });
}

/** Trains a model on rated answers, through the gateway; then its checkpoints answer and are rated. */
export async function loadTraining({ url, key }: Service): Promise<void> {
  const fromMs = Date.now() - 12 * HOUR_MS;
  const answer = async (which: "base" | "checkpoints"): Promise<void> => {
    for (const [at, answers] of answersOf(TRAINING_PROJECT, which).entries()) {
      const atMs = fromMs + (which === "base" ? 0 : 4 + at) * HOUR_MS;
      const { calls, feedback } = ratedAnswers(TRAINING_PROJECT, answers, atMs);
      await post({ url, key }, `/v2/${TRAINING_PROJECT}/calls/complete`, { batch: calls });
      await post({ url, key }, "/feedback/batch/create", { batch: feedback });
    }
  };
  const project_id = TRAINING_PROJECT;
  await post({ url, key }, "/cost/create", { project_id, costs: pricesOf(TRAINING_PROJECT, fromMs) });
  await answer("base");
  const feedback = { json_path: "score", op: "$gte", value: 0 };
  const data = await post({ url, key }, "/dataset/export", { project_id, format: "trajectories", feedback });
  const model = await post({ url, key }, "/v1/preview/models", modelOf(TRAINING_PROJECT), OWNED);
  const trajectories = data.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  const job = {
    model_id: (JSON.parse(model.text) as { id: string }).id,
    trajectory_groups: trajectories.map((one) => ({ trajectories: [one] })),
    experimental_config: { learning_rate: 1e-5, checkpoint_every: 8 },
  };
  const headers = { ...OWNED, "x-sumtree-export-id": data.headers.get("x-sumtree-export-id") ?? "" };
  await post({ url, key }, "/v1/preview/training-jobs", job, headers);
  await answer("checkpoints");
}

const OWNED = { "x-sumtree-project": TRAINING_PROJECT };

async function post(
  { url, key }: Service,
  path: string,
  body: object,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly text: string; readonly headers: Headers }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...more };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok || /"rejected":\[[^\]]/.test(text))
    throw new Error(`${path} answered ${response.status}: ${text}`);
  return { text, headers: response.headers };
}
