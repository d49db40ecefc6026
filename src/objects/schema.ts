import { z } from "zod";
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
  });

export const objCreateBody = z.object({
  obj: z.object({
    project_id: z.string(),
    object_id: name,
    val,
    builtin_object_class: optionalName,
    set_base_object_class: optionalName,
  }),
});

export const objReadBody = z.object({
  project_id: z.string(),
  object_id: name,
  digest: name.describe("The digest of a version, or `v0`, `v1`, …, or `latest`."),
});

export const fileContentBody = z.object({ project_id: z.string(), digest: name });

export const tableCreateBody = z.object({
  table: z.object({ project_id: z.string(), rows: z.array(val).max(1_000_000) }),
});

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const tableQueryBody = z.object({
  project_id: z.string(),
  digest: name,
  filter: z.object({ row_digests: z.array(z.string()).max(100_000).nullish() }).nullish(),
  offset: count.nullish(),
  limit: count.nullish(),
  sort_by: z.array(z.unknown()).max(0, "Rows come in the order of the table").nullish(),
});
