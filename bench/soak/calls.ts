import { jsonOf } from "./client.ts";
import type { Soak } from "./soak.ts";
import { sampleTrace, type SampleTrace } from "./sample-trace.ts";

const CALLS_PER_TRACE = 20;
const PROJECTS = 20;

/** Pairs in one batch, as SDKs send them; one in twenty is sent again. */
export async function sendTrace({ client, expected, random }: Soak, n: number): Promise<void> {
  const project = `soak/batches-${n % PROJECTS}`;
  const trace = sampleTrace(project, `b${n}`, { calls: CALLS_PER_TRACE, random });
  const body = batchOf(trace);
  for (let times = n % 20 === 0 ? 2 : 1; times > 0; times--) {
    jsonOf(await client.send("trace of 20 calls", "/call/upsert_batch", body));
  }
  expected.acknowledge(project, trace.used);
  expected.traces.push(trace);
}

/** A start and an end, each in a request of its own; of every fourth call the end comes first. */
export async function sendSingle({ client, expected, random }: Soak, n: number): Promise<void> {
  const project = `soak/singles-${n % 5}`;
  const trace = sampleTrace(project, `s${n}`, { calls: 1, random });
  const { start, end } = trace.pairs[0]!;
  const messages = [
    { path: "/call/start", body: { start } },
    { path: "/call/end", body: { end } },
  ];
  if (n % 4 === 0) messages.reverse();
  for (const { path, body } of messages) jsonOf(await client.send("single call", path, body));
  expected.acknowledge(project, trace.used);
}

export async function deleteTrace({ client, expected, random }: Soak, n: number): Promise<void> {
  const project = `soak/batches-${n % PROJECTS}`;
  const trace = sampleTrace(project, `d${n}`, { calls: CALLS_PER_TRACE, random });
  jsonOf(await client.send("trace deleted", "/call/upsert_batch", batchOf(trace)));
  const request = { project_id: project, call_ids: [trace.root] };
  const response = jsonOf(await client.send("trace deleted", "/calls/delete", request));
  const { num_deleted } = response as { num_deleted: number };
  if (num_deleted !== CALLS_PER_TRACE) throw new Error(`${num_deleted} calls of a trace were deleted`);
  expected.deny(project, trace.used.keys());
}

export function batchOf({ pairs }: SampleTrace): object {
  const batch = pairs.flatMap(({ start, end }) => [
    { mode: "start", req: { start } },
    { mode: "end", req: { end } },
  ]);
  return { batch };
}
