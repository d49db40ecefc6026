import { CLEARED_COUNT, CLEARED_INSTANT } from "../../query/fields/columns.ts";
import { toStoreText, type EpochMicros } from "../../shared/instant.ts";
import { stringifyJson } from "../../shared/json.ts";
import type { Usage } from "../../usage/usage.ts";
import { encodeUsage } from "../../usage/usage-column.ts";
import { completionIdOf, USAGE_SOURCES, type UsageSource } from "./completion.ts";
import { refsText } from "./refs.ts";

/** A member of a message: undefined leaves the stored value, null clears it, a value replaces it. */
export type Patch<Value> = Value | null | undefined;

export type Columns = Readonly<Record<string, string | number>>;

type Written = Record<string, string | number>;

/** Writes the columns of a member that is present: always all of them, so that columns from one value stay together. */
type Members = Readonly<Record<string, (value: never, row: Written) => void>>;

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
  runStep: (value: number | null, row: Written) => {
    row["svc_run_step"] = value ?? CLEARED_COUNT;
  },
  inputs: (value: unknown, row: Written) => {
    row["inputs"] = stringifyJson(value ?? {});
    row["input_refs"] = refsText(value);
  },
  attributes: (value: unknown, row: Written) => {
    row["attributes"] = stringifyJson(value ?? {});
  },
  apiKey: text("api_key"),
  inclusive: (value: Inclusive | null, row: Written) => {
    row["inclusive"] = INCLUSIVE.indexOf(value ?? false);
  },
} satisfies Members;

export const endMembers = {
  endedAt: instant("ended_at"),
  displayName: text("end_display_name"),
  output: (value: unknown, row: Written) => {
    row["output"] = stringifyJson(value ?? null);
    row["output_refs"] = refsText(value);
    row["completion_id"] = completionIdOf(value);
  },
  summary: (value: unknown, row: Written) => {
    row["summary"] = stringifyJson(value ?? {});
    row["usage_source"] = USAGE_SOURCES.indexOf("client");
  },
  exception: text("exception"),
  usage: (value: readonly Usage[] | null, row: Written) => {
    row["usage"] = encodeUsage(value ?? []);
  },
  // these override what output and summary say
  completionId: text("completion_id"),
  reportedBy: (value: UsageSource | null, row: Written) => {
    row["usage_source"] = USAGE_SOURCES.indexOf(value ?? "client");
  },
} satisfies Members;

export const renameMembers = { displayName: text("renamed_to") } satisfies Members;

export const deleteMembers = {
  deletedAt: (value: EpochMicros, row: Written) => {
    row["deleted_at"] = toStoreText(value);
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

type PatchOf<Table extends Members> = {
  readonly [Name in keyof Table]?: Parameters<Table[Name]>[0] | null | undefined;
};

/** The columns of all members present in a message. */
export function columnsOf<Table extends Members>(members: Table, message: PatchOf<Table>): Columns {
  const row: Written = {};
  for (const name in members) {
    const value = message[name];
    if (value !== undefined) members[name]!(value as never, row);
  }
  return row;
}

function text(column: string) {
  return (value: string | null, row: Written): void => {
    row[column] = (value ?? "").toWellFormed();
  };
}

function instant(column: string) {
  return (value: EpochMicros | null, row: Written): void => {
    row[column] = value === null ? CLEARED_INSTANT : toStoreText(value);
  };
}
