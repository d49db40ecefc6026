import { jsonOf } from "./client.ts";
import type { Soak } from "./soak.ts";

const PROJECTS = 3;
const HOUR_MS = 3_600_000;

export async function giveFeedback({ client, expected }: Soak, n: number): Promise<void> {
  const project_id = `soak/feedback-${n % PROJECTS}`;
  const score = n % 10;
  const body = {
    project_id,
    id: `feedback-${n}`,
    weave_ref: `weave:///${project_id}/call/${n}`,
    feedback_type: "wandb.runnable.tone",
    payload: { output: { score, passed: score > 4, reason: "because ".repeat(20) } },
  };
  jsonOf(await client.send("feedback", "/feedback/create", body));
  expected.score(project_id, score);
}

export async function askStatistics(soak: Soak, n: number): Promise<void> {
  await statisticsOf(soak, `soak/feedback-${n % PROJECTS}`);
}

/** How many scores of a project there are, and their sum. */
export async function statisticsOf({ client }: Pick<Soak, "client">, project_id: string) {
  const nowMs = Date.now();
  const question = {
    project_id,
    start: new Date(nowMs - 24 * HOUR_MS).toISOString(),
    end: new Date(nowMs + HOUR_MS).toISOString(),
    granularity: 3600,
    timezone: "America/New_York",
    metrics: [{ json_path: "output.score", aggregations: ["count", "sum", "avg"], percentiles: [50, 95] }],
  };
  const response = jsonOf(await client.send("feedback statistics", "/feedback/stats", question));
  const { window_stats } = response as { window_stats: Record<string, Record<string, number>> };
  return window_stats["output_score"]!;
}
