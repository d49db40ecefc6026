import { z } from "zod";
import { isoInstant, projectId } from "../http/schemas/fields.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";

const wellFormed = (text: string): string => text.toWellFormed();
export const name = z.string().min(1).max(512).transform(wellFormed);
const optionalName = z.string().max(512).transform(wellFormed).nullish();
/** Arguments of `refine` that limit the depth of a value. */
export const shallow = [
  (value: unknown): boolean => !isTooDeep(value),
  { message: `Nested deeper than ${MAX_JSON_DEPTH} levels`, params: { type: "recursion_loop" } },
] as const;
export const val = z
  .unknown()
  .optional()
  .refine(...shallow)
  .meta({ description: "JSON of any kind" });
export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const digest = z.string().describe("SHA-256 of the content: equal content has an equal digest");

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

const metadataOnly = z.boolean().nullish().describe("Returns an empty object instead of the value");

export const objReadBody = z
  .object({
    project_id: projectId,
    object_id: name,
    digest: name.describe("The digest of a version, or `v0`, `v1`, …, or `latest`"),
    metadata_only: metadataOnly,
  })
  .meta({ id: "ObjReadReq" });

const names = z.array(name).max(10_000).nullish();
/** Accepts only empty lists: objects have no tags and aliases, so nothing would match. */
const unsupported = z.array(z.string()).max(0, "Tags and aliases of objects are not supported").nullish();

/** Limit of versions in one response. */
export const MAX_LISTED_VERSIONS = 100_000;

export const objsQueryBody = z
  .object({
    project_id: projectId,
    filter: z
      .object({
        object_ids: names,
        is_op: z.boolean().nullish().describe("`true`: only ops; `false`: no ops"),
        base_object_classes: names,
        exclude_base_object_classes: names,
        leaf_object_classes: names.describe("By the value's `_class_name`"),
        latest_only: z.boolean().nullish().describe("Only the newest version of each object"),
        tags: unsupported,
        aliases: unsupported,
      })
      .nullish(),
    sort_by: z
      .array(z.object({ field: z.enum(["object_id", "created_at"]), direction: z.enum(["asc", "desc"]) }))
      .max(2)
      .nullish()
      .describe("Default: by `object_id`, then by the time when first stored"),
    limit: count.nullish().describe(`Default and maximum: ${MAX_LISTED_VERSIONS}`),
    offset: count.nullish(),
    metadata_only: metadataOnly,
  })
  .meta({ id: "ObjQueryReq" });

export const refsReadBody = z
  .object({
    refs: z
      .array(z.string().max(10_000))
      .max(1000)
      .describe(
        "`weave:///entity/project/object/name:digest`, `…/op/name:digest` or `…/table/digest/id/row_digest`, each with an optional path into the value: `/attr/x`, `/key/x`, `/index/0`, `/id/row_digest`",
      ),
  })
  .meta({ id: "RefsReadBatchReq" });

const bytes = z.unknown().meta({ type: "string", format: "binary", description: "The file's bytes" });
/** OpenAPI only: the form is read as a stream. */
export const fileCreateForm = z.object({ project_id: projectId, file: bytes }).meta({ id: "FileCreateReq" });
export const fileContentBody = z
  .object({ project_id: projectId, digest: name })
  .meta({ id: "FileContentReq" });

export const objCreateRes = z.object({ digest }).meta({ id: "ObjCreateRes" });
export const fileCreateRes = z.object({ digest }).meta({ id: "FileCreateRes" });

// OpenAPI only: the routes serialize stored values as they are.

const obj = z
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
  .meta({ id: "Obj" });
export const objReadRes = z.object({ obj }).meta({ id: "ObjReadRes" });
export const objsQueryRes = z.object({ objs: z.array(obj) }).meta({ id: "ObjQueryRes" });
export const refsReadRes = z
  .object({ vals: z.array(val).describe("In the order of the references; null where a path does not exist") })
  .meta({ id: "RefsReadBatchRes" });

export const fileContentRes = { content: { "application/octet-stream": { schema: bytes } } };
