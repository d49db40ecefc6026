import { CLEARED_COUNT, CLEARED_INSTANT } from "../../query/fields/columns.ts";
import { toStoreText, type EpochMicros } from "../../shared/instant.ts";
import { stringifyJson } from "../../shared/json.ts";
import type { Usage } from "../../usage/usage.ts";
import { encodeUsage } from "../../usage/usage-column.ts";
import { completionIdOf, USAGE_SOURCES, type UsageSource } from "./completion.ts";
import { refsText } from "./refs.ts";
import { encodeReports } from "./report-names.ts";
import type { RequestReport } from "./request-report.ts";

export type Columns = Readonly<Record<string, string | number>>;

type Written = Record<string, string | number>;

/** Column writers by message member; each always writes all columns derived from its value. */
type Members = Readonly<Record<string, (value: never, row: Written) => void>>;

/**
 * Scope of a call's usage. `per_llm`: includes its children's, each under its own LLM, as the Weave SDKs send it.
 * `in_total`: includes its children's, all under the call's LLM, as OpenTelemetry spans do: a wrapper names the requested
 * model, its children the one that responded. `false`: its own only.
 */
export type Inclusive = (typeof INCLUSIVE)[number];
/** The column `inclusive` holds an index into this list. */
export const INCLUSIVE = [false, "per_llm", "in_total"] as const;

/**
 * Columns of start messages. Each message type has its own name column: a rename overrides an end, and an end a start, in
 * any order of arrival.
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
  // override the values derived from output and summary
  completionId: text("completion_id"),
  reports: (value: readonly RequestReport[] | null, row: Written) => {
    row["reports"] = encodeReports(value ?? []);
  },
  usageSource: (value: UsageSource | null, row: Written) => {
    row["usage_source"] = USAGE_SOURCES.indexOf(value ?? "client");
  },
} satisfies Members;

export const renameMembers = { displayName: text("renamed_to") } satisfies Members;

export const deleteMembers = {
  deletedAt: (value: EpochMicros, row: Written) => {
    row["deleted_at"] = toStoreText(value);
  },
} satisfies Members;

/** Columns that only starts write, never pending events. */
export const startColumnNames: ReadonlySet<string> = new Set(
  Object.values(startMembers).flatMap((write) => {
    const row: Written = {};
    write(null, row);
    return Object.keys(row);
  }),
);

/** Members of a message: `undefined` keeps the stored value, null clears it, a value replaces it. */
export type PatchOf<Table extends Members> = {
  readonly [Name in keyof Table]?: Parameters<Table[Name]>[0] | null | undefined;
};

/** Encodes the members present in a message. */
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
