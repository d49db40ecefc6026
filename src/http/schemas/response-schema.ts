import { z } from "zod";
import type { Issue } from "../../shared/errors.ts";

/** Error in a request. */
const issueSchema = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .describe("The path to it: the part of the request, then members and indices"),
    msg: z.string().describe("The error, for people"),
    type: z.string().describe("The kind of error, for programs"),
  } satisfies Record<keyof Issue, z.ZodType>)
  .meta({ id: "ValidationError" });

// What errors look like, for `openapi.json`: responses refer to them by their names.
z.object({ detail: z.string().describe("What is wrong") }).meta({ id: "ErrorRes" });
z.object({ detail: z.array(issueSchema) }).meta({ id: "HTTPValidationError" });

const detail = z.union([z.string(), z.array(issueSchema)]);

/** Rejected items of a batch. */
export const rejectedItems = z
  .array(
    z
      .object({ index: z.int().min(0).describe("Its index in the batch, from 0"), detail })
      .meta({ id: "RejectedItem" }),
  )
  .describe("The rejected items with the reasons; the others are stored");

/** Result of a rejected item. */
export const itemError = z.object({ error: detail }).meta({ id: "ItemError" });

/** An empty response: the request succeeded. */
export const emptyRes = z.object({}).meta({ id: "EmptyRes" });

/** JSON as clients sent it. */
export const jsonObject = z.record(z.string(), z.unknown());

export const healthRes = z.object({ status: z.literal("ok") }).meta({ id: "HealthRes" });
