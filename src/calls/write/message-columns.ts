import { CLEARED_COUNT, CLEARED_INSTANT } from "../../query/fields/columns.ts";
import { toStoreText, type EpochMicros } from "../../shared/instant.ts";
import { stringifyJson } from "../../shared/json.ts";
import type { Usage } from "../../usage/usage.ts";
import { encodeUsage } from "../../usage/usage-column.ts";
import { completionIdOf, REPORTERS, type Reporter } from "./completion.ts";
import { refsText } from "./refs.ts";

/** A member of a message: undefined leaves the stored value, null clears it, a value replaces it. */
export type Said<Value> = Value | null | undefined;

export type Columns = Readonly<Record<string, string | number>>;

type Written = Record<string, string | number>;

/** Writes the columns of a member that is present: always all of them, so that columns from one value stay together. */
type Members = Readonly<Record<string, (said: never, row: Written) => void>>;

/**
 * Whether a call's usage includes its children's. `per_llm`: yes, each under its own LLM, as the Weave SDKs send it.
 * `in_total`: yes, all under the one LLM that the call names, as OpenTelemetry spans do: a wrapper names the requested
 * model, its children the one that responded.
 */
export type Inclusive = (typeof INCLUSIVE)[number];
/** The column `inclusive` holds an index into this list. */
export const INCLUSIVE = [false, "per_llm", "in_total"] as const;

/**
 * The columns that each form of message writes. Each form has its own name column: a rename wins over an end, and an end
 * over a start, in any order of arrival.
 */
export const startMembers = {
  parentId: text("parent_id"),
  opName: text("op_name"),
  startedAt: instant("started_at"),
  displayName: text("start_display_name"),
  threadId: text("thread_id"),
  turnId: text("turn_id"),
  userId: text("svc_user_id"),
  runId: text("svc_run_id"),
  runStep: (said: number | null, row: Written) => {
    row["svc_run_step"] = said ?? CLEARED_COUNT;
  },
  inputs: (said: unknown, row: Written) => {
    row["inputs"] = stringifyJson(said ?? {});
    row["input_references"] = refsText(said);
  },
  attributes: (said: unknown, row: Written) => {
    row["attributes"] = stringifyJson(said ?? {});
  },
  apiKey: text("api_key"),
  inclusive: (said: Inclusive | null, row: Written) => {
    row["inclusive"] = INCLUSIVE.indexOf(said ?? false);
  },
} satisfies Members;

export const endMembers = {
  endedAt: instant("ended_at"),
  displayName: text("end_display_name"),
  output: (said: unknown, row: Written) => {
    row["output"] = stringifyJson(said ?? null);
    row["output_references"] = refsText(said);
    row["completion_id"] = completionIdOf(said);
  },
  summary: (said: unknown, row: Written) => {
    row["summary"] = stringifyJson(said ?? {});
    row["reported_by"] = REPORTERS.indexOf("client");
  },
  exception: text("exception"),
  usage: (said: readonly Usage[] | null, row: Written) => {
    row["usage"] = encodeUsage(said ?? []);
  },
  // these override what output and summary say
  completionId: text("completion_id"),
  reportedBy: (said: Reporter | null, row: Written) => {
    row["reported_by"] = REPORTERS.indexOf(said ?? "client");
  },
} satisfies Members;

export const renameMembers = { displayName: text("renamed_to") } satisfies Members;

export const deleteMembers = {
  deletedAt: (said: EpochMicros, row: Written) => {
    row["deleted_at"] = toStoreText(said);
  },
} satisfies Members;

/** The columns that only starts write: no pending part writes them. */
export const startColumnNames: ReadonlySet<string> = new Set(
  Object.values(startMembers).flatMap((write) => {
    const row: Written = {};
    write(null, row);
    return Object.keys(row);
  }),
);

type SaidOf<Table extends Members> = {
  readonly [Name in keyof Table]?: Parameters<Table[Name]>[0] | null | undefined;
};

/** The columns of all members present in a message. */
export function columnsOf<Table extends Members>(members: Table, message: SaidOf<Table>): Columns {
  const row: Written = {};
  for (const name in members) {
    const said = message[name];
    if (said !== undefined) members[name]!(said as never, row);
  }
  return row;
}

function text(column: string) {
  return (said: string | null, row: Written): void => {
    row[column] = (said ?? "").toWellFormed();
  };
}

function instant(column: string) {
  return (said: EpochMicros | null, row: Written): void => {
    row[column] = said === null ? CLEARED_INSTANT : toStoreText(said);
  };
}
