import type { Call } from "../api/routes.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { shortName } from "../numbers/op-name.ts";

/** What the tree shows of a call; the rest is read when somebody looks at it. */
export interface TraceCall {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly startMs: number;
  /** Null: it still runs. */
  readonly endMs: number | null;
  readonly exception: string | null;
}

/** What has to be asked for it. */
export const TRACE_COLUMNS = [
  "id",
  "parent_id",
  "op_name",
  "display_name",
  "started_at",
  "ended_at",
  "exception",
];

const names = new Map<string, string>();

export function traceCallOf(call: Call): TraceCall {
  return {
    id: call.id,
    parentId: call.parent_id,
    name: nameOf(call),
    startMs: Date.parse(call.started_at),
    endMs: call.ended_at === null ? null : Date.parse(call.ended_at),
    exception: call.exception === null ? null : oneLine(call.exception),
  };
}

/** A hundred thousand calls have few names: each is kept once. */
function nameOf({ op_name, display_name }: Call): string {
  const key = `${op_name}\n${display_name ?? ""}`;
  const known = names.get(key);
  if (known !== undefined) return known;
  const name = shortName(op_name, display_name);
  if (names.size < 10_000) names.set(key, name);
  return name;
}
