import { z } from "zod";

const MAX_IDS = 10_000;

const idField = z.strictObject({ $getField: z.literal("id") });
const idLiteral = z.strictObject({ $literal: z.string().max(512) });
const oneId = z.strictObject({ $eq: z.tuple([idField, idLiteral]) }).meta({ id: "IsId" });
const anyOfIds = z
  .strictObject({ $in: z.tuple([idField, z.array(idLiteral).max(MAX_IDS)]) })
  .meta({ id: "IsOneOfIds" });
const someOf = z.strictObject({
  $or: z
    .array(z.union([oneId, anyOfIds]))
    .min(1)
    .max(1_000),
});

/** Query of a purge, which selects by id only. */
export const purgeQuery = z
  .strictObject({ $expr: z.union([oneId, anyOfIds, someOf]) })
  .meta({ id: "PurgeQuery", description: "The ids to delete" });

/** Returns the distinct ids of a purge. */
export function idsToPurge(query: z.output<typeof purgeQuery>): readonly string[] {
  const parts = "$or" in query.$expr ? query.$expr.$or : [query.$expr];
  const ids = parts.flatMap((part) =>
    "$eq" in part ? [part.$eq[1].$literal] : part.$in[1].map((id) => id.$literal),
  );
  return [...new Set(ids)];
}
