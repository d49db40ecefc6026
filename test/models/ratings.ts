import { evaluateQuery } from "./evaluate-query.ts";
import type { StoredCall } from "../helpers/stored-calls.ts";

/** A feedback as a client sends it. */
export interface Feedback {
  readonly id: string;
  readonly weave_ref: string;
  readonly feedback_type: string;
  readonly created_at: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Condition {
  readonly feedback_type?: string | null | undefined;
  readonly json_path: string;
  readonly op: string;
  readonly value: unknown;
}

/** A condition as `$expr` has it for a field. */
export function asQuery({ op, value }: Condition, field: string): { $expr: object } {
  const read = { $getField: field };
  const literal = Array.isArray(value) ? value.map((item) => ({ $literal: item })) : { $literal: value };
  return { $expr: { [op]: op === "$contains" ? { input: read, substr: literal } : [read, literal] } };
}

export function valueAt(payload: unknown, path: string): unknown {
  return path.split(".").reduce((value: unknown, key) => {
    if (Array.isArray(value)) return /^(?:0|-?[1-9]\d*)$/.test(key) ? value.at(Number(key)) : undefined;
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    return (value as Record<string, unknown>)[key];
  }, payload);
}

export interface Rating {
  readonly passed: boolean;
  readonly value: number | null;
}

/** The ratings of the project's calls by id, by plain JavaScript over the feedback that there is. */
export function ratingsOf(
  project: string,
  feedback: readonly Feedback[],
  condition: Condition,
): ReadonlyMap<string, Rating> {
  const prefix = `weave:///${project}/call/`;
  const rated = new Map<string, Rating>();
  const order = (one: Feedback, other: Feedback) =>
    Date.parse(one.created_at) - Date.parse(other.created_at) ||
    Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
  for (const { weave_ref, feedback_type, payload } of feedback.toSorted(order)) {
    if (!weave_ref.startsWith(prefix) || weave_ref === prefix) continue;
    if (condition.feedback_type != null && feedback_type !== condition.feedback_type) continue;
    const value = valueAt(payload, condition.json_path);
    if (value === undefined || value === null) continue;
    const query = asQuery(condition, `inputs.${condition.json_path}`);
    const passed = evaluateQuery(query, { inputs: payload } as StoredCall) === true;
    rated.set(weave_ref.slice(prefix.length), { passed, value: numberOf(value) });
  }
  return rated;
}

function numberOf(value: unknown): number | null {
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "number") return value;
  return typeof value === "string" && /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)
    ? Number(value)
    : null;
}
