import { ask, type Asking } from "../api/ask.ts";
import type { TraceSizes } from "../api/routes.ts";

/** How many calls a trace has, and how many of them failed. */
export type TraceSize = TraceSizes["sizes"][number];

/** By trace id: of whole traces, even outside the window. */
export async function loadSizes(
  project_id: string,
  trace_ids: readonly string[],
  asking: Asking,
): Promise<ReadonlyMap<string, TraceSize>> {
  if (trace_ids.length === 0) return new Map();
  const body = { project_id, trace_ids };
  const { body: answer } = await ask({ path: "/trace/sizes", body }, asking);
  return new Map(answer.sizes.map((size) => [size.trace_id, size]));
}
