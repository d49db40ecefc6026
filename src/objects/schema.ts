import { z } from "zod";
import { isoInstant, projectId } from "../http/fields.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";

const wellFormed = (text: string): string => text.toWellFormed();
const name = z.string().min(1).max(512).transform(wellFormed);
const optionalName = z.string().max(512).transform(wellFormed).nullish();
const val = z
  .unknown()
  .optional()
  .refine((value) => !isTooDeep(value), {
    message: `Nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { type: "recursion_loop" },
  })
  .meta({ description: "JSON of any kind" });

export const objCreateBody = z
  .object({
    obj: z
      .object({
        project_id: projectId,
        object_id: name,
        val,
        builtin_object_class: optionalName,
        set_base_object_class: optionalName,
      })
      .meta({ id: "NewObj" }),
  })
  .meta({ id: "ObjCreateReq" });

export const objReadBody = z
  .object({
    project_id: projectId,
    object_id: name,
    digest: name.describe("The digest of a version, or `v0`, `v1`, …, or `latest`."),
  })
  .meta({ id: "ObjReadReq" });

const bytes = z.unknown().meta({ type: "string", format: "binary", description: "The file's bytes" });
/** Described, not used: the form is read as a stream. */
export const fileCreateForm = z.object({ project_id: projectId, file: bytes }).meta({ id: "FileCreateReq" });
export const fileContentBody = z
  .object({ project_id: projectId, digest: name })
  .meta({ id: "FileContentReq" });

export const tableCreateBody = z
  .object({
    table: z.object({ project_id: projectId, rows: z.array(val).max(1_000_000) }).meta({ id: "NewTable" }),
  })
  .meta({ id: "TableCreateReq" });

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const tableQueryBody = z
  .object({
    project_id: projectId,
    digest: name,
    filter: z
      .object({ row_digests: z.array(z.string()).max(100_000).nullish().describe("Only these rows") })
      .nullish(),
    offset: count.nullish(),
    limit: count.nullish().describe("Default: all"),
    sort_by: z.array(z.unknown()).max(0, "Rows come in the order of the table").nullish(),
  })
  .meta({ id: "TableQueryReq" });

const digest = z.string().describe("Names the content: the same content has the same digest");

export const objCreateRes = z.object({ digest }).meta({ id: "ObjCreateRes" });
export const fileCreateRes = z.object({ digest }).meta({ id: "FileCreateRes" });
export const tableCreateRes = z
  .object({ digest, row_digests: z.array(z.string()).describe("In the order of the rows") })
  .meta({ id: "TableCreateRes" });

// Described, not used: values are written as they were stored.

export const objReadRes = z
  .object({
    obj: z
      .object({
        project_id: projectId,
        object_id: z.string(),
        digest,
        kind: z.enum(["object", "op"]),
        base_object_class: z.string().nullable(),
        created_at: isoInstant,
        deleted_at: z.null(),
        version_index: z.int().min(0).describe("0 for `v0`"),
        is_latest: z.union([z.literal(0), z.literal(1)]),
        val,
      })
      .meta({ id: "Obj" }),
  })
  .meta({ id: "ObjReadRes" });

export const fileContentRes = { content: { "application/octet-stream": { schema: bytes } } };

export const tableQueryRes = z
  .object({ rows: z.array(z.object({ digest, val }).meta({ id: "TableRow" })) })
  .meta({ id: "TableQueryRes" });
