import { jsonOf } from "./client.ts";
import type { Soak } from "./soak.ts";
import { differenceOf, type UsageAnswer } from "./usage-answer.ts";

/** An acknowledged trace is readable at once, exact to the token. */
export async function askTrace(
  { client, expected, random }: Soak,
  { costs }: { costs: boolean },
): Promise<void> {
  const { traces } = expected;
  const asked = traces[Math.floor(random.next() * traces.length)];
  if (asked === undefined) return;
  const { project, trace, root } = asked;
  const question = { project_id: project, filter: { trace_ids: [trace] }, include_costs: costs };
  const operation = costs ? "usage of a trace with costs" : "usage of a trace";
  const response = jsonOf(await client.send(operation, "/trace/usage", question)) as UsageAnswer;
  const difference = differenceOf(response, root, expected.calls.get(project)!.get(root)!);
  if (difference !== undefined) throw new Error(difference);
}

export async function askByQuery({ client, random }: Soak, n: number): Promise<void> {
  const atLeast = Math.floor(random.next() * 1000);
  const conditions = [
    { $gt: [{ $getField: "inputs.n" }, { $literal: atLeast }] },
    { $contains: { input: { $getField: "inputs.question" }, substr: { $literal: `-${n % 20} ` } } },
  ];
  const question = {
    project_id: `soak/batches-${n % 20}`,
    query: { $expr: { $and: conditions } },
    limit: 100,
  };
  jsonOf(await client.send("usage by a query", "/trace/usage", question));
}

export async function askRoots({ client }: Soak, n: number): Promise<void> {
  const filter = { trace_roots_only: true };
  const question = { project_id: `soak/batches-${n % 20}`, filter, include_costs: true };
  jsonOf(await client.send("usage of roots with costs", "/trace/usage", question));
}

export async function readBack({ client }: Soak, n: number): Promise<void> {
  const question = { project_id: `soak/batches-${n % 20}`, limit: 200, include_costs: n % 2 === 0 };
  const { status, body } = await client.send("calls read back", "/calls/stream_query", question);
  if (status !== 200) throw new Error(`answered ${status}`);
  for (const line of body.toString("utf8").split("\n")) if (line !== "") JSON.parse(line);
}
