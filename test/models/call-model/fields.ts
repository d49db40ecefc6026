import { callAnswer, micros, type Names } from "./answers.ts";
import type { CallName } from "./messages.ts";
import type { LaneState } from "./state.ts";

/** A question about one field: which calls have this value. */
export interface FieldQuery {
  readonly field: string;
  readonly value: unknown;
  readonly holds: (state: LaneState, name: CallName, names: Names) => boolean;
}

/** Values that messages give a field; null asks for the calls that have none. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  op_name: ["op", "chat"],
  display_name: [null, "A", "B", "E", "F", "R", "S", "O"],
  thread_id: [null, "th1", "th2"],
  turn_id: [null, "tu1"],
  exception: [null, "boom", "bang"],
  svc_user_id: [null, "u1", "u2"],
  svc_run_id: [null, "r1"],
  svc_run_step: [null, 0, 5, 7],
  started_at: ["2026-01-01T00:00:01.000001Z", "2026-01-01T00:00:02Z", "2025-12-31T23:59:59.999999Z"],
  ended_at: [null, "2026-01-01T00:02:00.5Z"],
  parent_id: [null],
  "inputs.v": [null, "1", "2"],
  "output.v": [null, "1", "2"],
  "attributes.tenant": [null, "x", "y"],
  "summary.usage.m.prompt_tokens": [null, 1, 3, 100],
  "summary.status_counts.error": [null, 1],
  "summary.weave.status": ["error", "descendant_error", "running", "success"],
  "summary.weave.latency_ms": [null, 118_500],
  "summary.weave.trace_name": ["A", "E", "R", "name", "op"],
};
/** The names of the interface, and those of the SDKs. */
const AS_ANSWERED: Readonly<Record<string, string>> = {
  svc_user_id: "wb_user_id",
  svc_run_id: "wb_run_id",
  svc_run_step: "wb_run_step",
};

/** The calls of a time: from this on, and before that. */
export function timeQuery(
  from: string,
  before: string,
): Pick<FieldQuery, "holds"> & { readonly $expr: object } {
  const isFrom = (text: string) => ({ $gte: [{ $getField: "started_at" }, { $literal: text }] });
  return {
    $expr: { $and: [isFrom(from), { $not: [isFrom(before)] }] },
    holds: (state, name) => {
      const at = micros(state[name]!.said["started_at"] as string);
      return micros(from) <= at && at < micros(before);
    },
  };
}

export function fieldQueries(project: string): readonly FieldQuery[] {
  const queries = Object.entries(VALUES).flatMap(([field, values]) =>
    values.map((value): FieldQuery => ({
      field,
      value,
      holds: (state, name, names) => {
        const found = read(callAnswer(state, name, names), AS_ANSWERED[field] ?? field);
        return field.endsWith("_at") && value !== null
          ? sameInstant(found, value as string)
          : (found ?? null) === value;
      },
    })),
  );
  return [
    ...queries,
    { field: "project_id", value: project, holds: () => true },
    { field: "deleted_at", value: null, holds: () => true },
  ];
}

function read(response: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (node, key) =>
        typeof node === "object" && node !== null ? (node as Record<string, unknown>)[key] : undefined,
      response,
    );
}

function sameInstant(answered: unknown, asked: string): boolean {
  return (
    answered === asked.replace(/(?:\.(\d*))?Z$/, (_, digits = "") => `.${String(digits).padEnd(6, "0")}Z`)
  );
}
