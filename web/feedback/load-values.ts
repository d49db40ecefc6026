import { postJson, type RequestOptions } from "../api/client.ts";
import type { FeedbackPath, Query } from "../api/routes.ts";
import type { TimeRange } from "../state/time-range.ts";
import { statsQuestion } from "./load-feedback.ts";
import { slugOf, valueAt } from "./paths.ts";

export interface ValuesQuestion {
  readonly project: string;
  readonly window: TimeRange;
  readonly path: FeedbackPath;
}

export interface Values {
  /** The newest first. */
  readonly values: readonly { readonly value: string | number | boolean; readonly callId: string }[];
  /** There are older ones. */
  readonly truncated: boolean;
}

const MAX_READ = 1000;
/** How many calls a link opens. */
export const MAX_OPENED = 20;

/** Reads the newest values at a path; `among`: operands that they have to fulfil. */
export async function loadValues(
  { project, window, path }: ValuesQuestion,
  asking: RequestOptions,
  among: (value: unknown) => readonly unknown[] = () => [],
): Promise<Values> {
  const at = (ms: number) => [{ $getField: "created_at" }, { $literal: new Date(ms).toISOString() }];
  const value = { $getField: `payload.${path.json_path}` };
  const conditions: unknown[] = [
    { $gte: at(window.fromMs) },
    { $eq: [{ $convert: { input: value, to: "exists" } }, { $literal: true }] },
    ...among(value),
  ];
  if (window.toMs !== undefined) conditions.push({ $lt: at(window.toMs) });
  const body = {
    project_id: project,
    fields: ["payload", "weave_ref"],
    query: { $expr: { $and: conditions } } as Query,
    sort_by: [{ field: "created_at", direction: "desc" }],
    limit: MAX_READ,
  } as const;
  const { body: answer, truncated } = await postJson({ path: "/feedback/query", body }, asking);
  const values = answer.result.flatMap(({ payload, weave_ref: ref = "" }) => {
    const found = valueAt(payload ?? {}, path.json_path);
    return found === undefined ? [] : [{ value: found, callId: ref.slice(ref.lastIndexOf("/") + 1) }];
  });
  return { values, truncated };
}

/** Reads the worst values at a path: the lowest numbers, or the newest that are false. */
export async function loadWorst(
  question: ValuesQuestion,
  count: number,
  asking: RequestOptions,
): Promise<Values["values"]> {
  const { path, project, window } = question;
  if (path.value_type === "boolean") {
    const isFalse = (value: unknown) => [{ $eq: [value, { $literal: false }] }];
    return (await loadValues(question, asking, isFalse)).values.slice(0, MAX_OPENED);
  }
  let atMost: number | null = null;
  if (count > MAX_READ) {
    const share = (100 * MAX_OPENED) / count;
    const { body } = statsQuestion({ project, window, zone: "UTC" }, []);
    const metrics = [{ ...path, aggregations: [], percentiles: [share] }];
    const answer = await postJson({ path: "/feedback/stats", body: { ...body, metrics } }, asking);
    atMost = Object.values(answer.body.window_stats[slugOf(path.json_path)] ?? {})[0] ?? null;
  }
  const { values } = await loadValues(question, asking, (value) =>
    atMost === null ? [] : [{ $lte: [{ $convert: { input: value, to: "double" } }, { $literal: atMost }] }],
  );
  return values.toSorted((a, b) => Number(a.value) - Number(b.value)).slice(0, MAX_OPENED);
}

/** A search for the traces of calls. */
export function searchOfCalls(values: Values["values"]): string {
  const ids = values.slice(0, MAX_OPENED).map(({ callId }) => ({ $literal: callId }));
  return JSON.stringify({ $expr: { $in: [{ $getField: "id" }, ids] } });
}
