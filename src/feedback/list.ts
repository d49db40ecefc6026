import { compileQuery } from "../query/compile.ts";
import { feedbackFields } from "../query/fields/fields.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { DEFAULT_LIMIT, listFields, type ListField, type ListRequest } from "./list-schema.ts";

/** A row of the response. Payload and scorer are empty if the row exceeds the response's size limit. */
export type ListedRow = Readonly<Record<Exclude<ListField, "created_at" | "payload">, string | null>> & {
  readonly created_at_us: number;
  /** JSON. */
  readonly payload: string;
  /** JSON, or empty. */
  readonly scorer: string;
  readonly has_room: 0 | 1;
};

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

const columns = {
  id: "id",
  project_id: "project_id",
  weave_ref: "weave_ref",
  feedback_type: "feedback_type",
  creator: "creator",
  wb_user_id: "svc_user_id",
  created_at: "created_at",
  payload: "payload",
  annotation_ref: "annotation_ref",
  runnable_ref: "runnable_ref",
  call_ref: "call_ref",
  trigger_ref: "trigger_ref",
  queue_id: "queue_id",
} as const satisfies Record<ListField, string>;

/**
 * Prints the statement for `ListedRow`s, one more than the limit if there are more. It reads only payloads of selected rows.
 * Errors: validation, of the query.
 */
export function printList(project: Project, request: ListRequest): Sql {
  const condition = conditionOf(project, request);
  return printRows(project, { ...request, condition, limit: limitOf(request) + 1 });
}

/** Prints the statement for the feedback about references, oldest first. */
export function printListOfRefs(project: Project, refs: readonly string[], limit: number): Sql {
  return printRows(project, { condition: sql`weave_ref IN ${param("Array(String)", refs)}`, limit });
}

interface RowSelection {
  readonly condition: Sql;
  readonly sort_by?: ListRequest["sort_by"];
  readonly limit: number;
  readonly offset?: ListRequest["offset"];
}

function printRows(project: Project, selection: RowSelection): Sql {
  const order = orderOf(selection);
  const plain = listFields.filter((field) => field !== "created_at" && field !== "payload");
  const printed = join(
    plain.map((field) => trusted(`row.${columns[field]} AS ${field}`)),
    ", ",
  );
  return sql`SELECT ${printed}, toUnixTimestamp64Micro(row.created_at) AS created_at_us,
      row.bytes_so_far <= ${param("UInt64", MAX_RESPONSE_BYTES)} OR row.bytes_so_far = row.bytes AS has_room,
      if(has_room, row.payload, '') AS payload, if(has_room, row.scorer, '') AS scorer
    FROM (
      SELECT *, length(payload) + length(scorer) AS bytes,
        sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS bytes_so_far
      FROM (
        SELECT ${trusted(Object.values(columns).join(", "))}, scorer
        FROM feedback FINAL
        PREWHERE (project_id, created_at, id) IN (
          SELECT project_id, created_at, id FROM feedback FINAL
          PREWHERE project_id = ${param("String", project)}
          WHERE deleted = 0 AND ${selection.condition}
          ORDER BY ${order}
          LIMIT ${param("UInt64", selection.limit)} OFFSET ${param("UInt64", selection.offset ?? 0)})
        WHERE deleted = 0
      )
    ) AS row
    ORDER BY ${orderOf(selection, "row.")}`;
}

export function limitOf(request: ListRequest): number {
  return request.limit ?? DEFAULT_LIMIT;
}

function orderOf({ sort_by }: Pick<RowSelection, "sort_by">, table = ""): Sql {
  const requested = (sort_by ?? []).map(({ field, direction }) => `${table}${columns[field]} ${direction}`);
  return trusted([...requested, `${table}created_at`, `${table}id`].join(", "));
}

function conditionOf(project: Project, { query }: ListRequest): Sql {
  if (query == null) return sql`1`;
  return compileQuery(query, { project, fields: feedbackFields }).condition;
}
