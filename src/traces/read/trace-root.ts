import { columns, HAS_ENDED, IS_ROOT } from "../../query/fields/columns.ts";
import { sql, trusted } from "../../query/sql.ts";
import { toIso } from "../../shared/instant.ts";
import { parseJson } from "../../shared/json.ts";
import { LATENCY } from "../../usage-rollup/usage-record.ts";

/** Root of a trace: its earliest call without a parent. */
export interface TraceRoot {
  readonly id: string;
  readonly op_name: string | null;
  readonly display_name: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly svc_user_id: string | null;
  readonly thread_id: string | null;
  readonly exception: string | null;
}

export interface ReadRoot {
  readonly fields: TraceRoot;
  readonly hour: number;
  /** Undefined if it has not ended. */
  readonly latencyMs: number | undefined;
}

const MAX_EXCEPTION = trusted("1000");
const text = (name: string) => columns.get(name)!.sql;

/** Text of a root for `readRoot`; '' of any other call. */
export const ROOT_TEXT = sql`if(${IS_ROOT}, toJSONString([id, toString(hour), toString(${LATENCY}), ${text("op_name")},
  ${text("display_name")}, toString(assumeNotNull(started_at)), if(${HAS_ENDED}, ifNull(toString(ended_at), ''), ''),
  ${text("svc_user_id")}, ${text("thread_id")}, leftUTF8(${text("exception")}, ${MAX_EXCEPTION})]), '')`;

export function readRoot(rootText: string): ReadRoot {
  const [id, hour, latency, op, name, started, ended, user, thread, exception] = parseJson(
    rootText,
  ) as string[];
  const fields = {
    id: id!,
    op_name: op || null,
    display_name: name || null,
    started_at: toIso(started!),
    ended_at: ended ? toIso(ended) : null,
    svc_user_id: user || null,
    thread_id: thread || null,
    exception: exception || null,
  };
  return { fields, hour: Number(hour), latencyMs: ended ? Number(latency) : undefined };
}
