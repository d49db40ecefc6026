import { postJson, type RequestOptions } from "../api/client.ts";

/** A summary of the feedback on the root of a trace. */
export interface FeedbackSummary {
  readonly count: number;
  /** The mean of the first number in each payload; null: there is none. */
  readonly mean: number | null;
  /** Path of that number. */
  readonly path: string | undefined;
}

const MAX_READ = 5000;

/** By call id. Errors: those of any question. */
export async function loadMarks(
  project_id: string,
  ids: readonly string[],
  asking: RequestOptions,
): Promise<ReadonlyMap<string, FeedbackSummary>> {
  const prefix = `weave:///${project_id}/call/`;
  const refs = ids.map((id) => ({ $literal: prefix + id }));
  const { body: answer } = await postJson(
    {
      path: "/feedback/query",
      body: {
        project_id,
        fields: ["weave_ref", "payload"],
        query: { $expr: { $in: [{ $getField: "weave_ref" }, refs] } },
        limit: MAX_READ,
      },
    },
    asking,
  );
  const byCall = Map.groupBy(answer.result, ({ weave_ref }) => (weave_ref ?? "").slice(prefix.length));
  return new Map([...byCall].map(([id, all]) => [id, markOf(all.map(({ payload }) => payload ?? {}))]));
}

export function markOf(payloads: readonly object[]): FeedbackSummary {
  const found = payloads.map((payload) => firstNumber(payload));
  const path = found.find((one) => one !== undefined)?.path;
  const values = found.flatMap((one) => (one !== undefined && one.path === path ? [one.value] : []));
  const mean = values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  return { count: payloads.length, mean, path };
}

function firstNumber(
  payload: object,
  above = "",
): { readonly path: string; readonly value: number } | undefined {
  for (const [name, value] of Object.entries(payload) as [string, unknown][]) {
    const path = above === "" ? name : `${above}.${name}`;
    if (typeof value === "number") return { path, value };
    if (typeof value === "object" && value !== null && path.split(".").length < 4) {
      const inner = firstNumber(value, path);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}
