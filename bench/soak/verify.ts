import { jsonOf, type SoakClient } from "./client.ts";
import { statisticsOf } from "./feedback.ts";
import type { Expected, Used } from "./expected.ts";
import { differenceOf, type UsageAnswer } from "./usage-answer.ts";

export interface Verdict {
  /** Calls that were acknowledged and found with their exact totals. */
  readonly calls: number;
  readonly feedback: number;
  /** Everything lost, doubled or wrong. */
  readonly differences: readonly string[];
}

/** Reads back everything that was acknowledged. */
export async function verify(client: SoakClient, expected: Expected): Promise<Verdict> {
  const differences: string[] = [];
  let calls = 0;
  const projects = new Set([
    ...expected.calls.keys(),
    ...expected.absent.keys(),
    ...expected.unacknowledged.keys(),
  ]);
  for (const project of projects) {
    const response = await usageOfAll(client, project);
    const known = expected.calls.get(project) ?? new Map<string, Used>();
    const unacknowledged = expected.unacknowledged.get(project) ?? new Map<string, Used>();
    const wrong = [
      ...[...known].map(([id, used]) => differenceOf(response, id, used)),
      ...[...unacknowledged].map(([id, used]) => response.call_usage[id] && differenceOf(response, id, used)),
      ...[...(expected.absent.get(project) ?? [])].map((id) => response.call_usage[id] && `${id} is there`),
      ...response.unfinished_call_ids.map((id) => `${id} has no end`),
    ].filter((difference) => typeof difference === "string");
    if (unacknowledged.size === 0 && Object.keys(response.call_usage).length !== known.size) {
      wrong.push(`${Object.keys(response.call_usage).length} calls instead of ${known.size}`);
    }
    differences.push(...wrong.map((difference) => `${project}: ${difference}`));
    calls += known.size;
  }
  let feedback = 0;
  for (const [project, { count, sum }] of expected.feedback) {
    const told = await statisticsOf({ client }, project);
    if (told["count"] !== count || told["sum"] !== sum) {
      differences.push(`${project}: ${JSON.stringify(told)} instead of count ${count}, sum ${sum}`);
    }
    feedback += count;
  }
  return { calls, feedback, differences };
}

async function usageOfAll(client: SoakClient, project_id: string): Promise<UsageAnswer> {
  const question = { project_id, limit: 1_000_000 };
  return jsonOf(await client.send("verification", "/trace/usage", question)) as UsageAnswer;
}
