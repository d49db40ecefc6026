import { z } from "zod";
import { projectId } from "../http/schemas/fields.ts";
import { count, digest, name, shallow, val } from "./schema.ts";

/** Limit of rows in a table. */
export const MAX_ROWS = 1_000_000;
/** Limit of updates in one request. */
export const MAX_UPDATES = 100_000;
/** Limit of inserts and pops in one request: each moves the rows behind it. */
const MAX_MOVES = 1000;

export const tableCreateBody = z
  .object({
    table: z.object({ project_id: projectId, rows: z.array(val).max(MAX_ROWS) }).meta({ id: "NewTable" }),
  })
  .meta({ id: "TableCreateReq" });

export const tableFromDigestsBody = z
  .object({
    project_id: projectId,
    row_digests: z
      .array(name)
      .max(MAX_ROWS)
      .describe("The digests of stored rows of this project, in the order of the table"),
  })
  .meta({ id: "TableCreateFromDigestsReq" });

const row = z
  .unknown()
  .refine((value) => value !== undefined, {
    message: "Field required",
    params: { type: "missing" },
    abort: true,
  })
  .refine(...shallow)
  .meta({ description: "JSON of any kind" });
const update = z
  .object({
    append: z.object({ row }).optional().describe("Appends a row"),
    insert: z.object({ index: count, row }).optional().describe("Inserts a row before this index"),
    pop: z.object({ index: count }).optional().describe("Removes the row with this index"),
  })
  .refine(
    ({ append, insert, pop }) => [append, insert, pop].filter((one) => one !== undefined).length === 1,
    {
      message: "Input should be exactly one of append, insert, pop",
      params: { type: "value_error" },
    },
  )
  .meta({ id: "TableUpdate", description: "Set exactly one member" });

export type TableUpdate = z.output<typeof update>;

export const tableUpdateBody = z
  .object({
    project_id: projectId,
    base_digest: name.describe("The table to copy; it does not change"),
    updates: z
      .array(update)
      .max(MAX_UPDATES)
      .refine((updates) => updates.filter(({ append }) => append === undefined).length <= MAX_MOVES, {
        message: `At most ${MAX_MOVES} of the updates may be inserts and pops`,
        params: { type: "too_long" },
      })
      .describe("Applied in order"),
  })
  .meta({ id: "TableUpdateReq" });

export const tableQueryBody = z
  .object({
    project_id: projectId,
    digest: name,
    filter: z
      .object({ row_digests: z.array(z.string()).max(100_000).nullish().describe("Returns only these rows") })
      .nullish(),
    offset: count.nullish(),
    limit: count.nullish().describe("Default: all"),
    sort_by: z.array(z.unknown()).max(0, "Rows are always in the order of the table").nullish(),
  })
  .meta({ id: "TableQueryReq" });

export const tableStatsBody = z
  .object({ project_id: projectId, digest: name })
  .meta({ id: "TableQueryStatsReq" });

const rowDigests = z.array(z.string());
export const tableCreateRes = z
  .object({ digest, row_digests: rowDigests.describe("In the order of the rows") })
  .meta({ id: "TableCreateRes" });
export const tableFromDigestsRes = z.object({ digest }).meta({ id: "TableCreateFromDigestsRes" });
export const tableUpdateRes = z
  .object({
    digest,
    updated_row_digests: rowDigests.describe("The digest of the row that each update added or removed"),
  })
  .meta({ id: "TableUpdateRes" });
export const tableStatsRes = z.object({ count: z.int().min(0) }).meta({ id: "TableQueryStatsRes" });

/** OpenAPI only: the route serializes stored values as they are. */
export const tableQueryRes = z
  .object({ rows: z.array(z.object({ digest, val }).meta({ id: "TableRow" })) })
  .meta({ id: "TableQueryRes" });
