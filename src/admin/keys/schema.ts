import { z } from "zod";
import { SCOPES } from "../../http/auth/api-key.ts";
import { isProjectPattern } from "../../http/auth/grant.ts";
import { instantMs, isoInstant } from "../../http/schemas/fields.ts";

const name = z.string().min(1).max(200).describe("What the key is for; shown in lists");
const scopes = z
  .array(z.enum(SCOPES))
  .min(1)
  .max(SCOPES.length)
  .describe("What the key may do. `admin` may do everything.");
const projects = z
  .array(
    z.string().refine(isProjectPattern, {
      message: "Input should be *, entity/* or entity/project",
      params: { type: "string_pattern_mismatch" },
    }),
  )
  .min(1)
  .max(1000)
  .describe("The key's projects: `*`, `entity/*` or `entity/project`");

export const newKey = z
  .strictObject({
    name,
    scopes,
    projects,
    expires_at: instantMs
      .nullish()
      .describe("When the key stops working. Default: never, or with its creator"),
  })
  .meta({ id: "ApiKeyCreateReq" });

const keyFacts = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  projects: z.array(z.string()),
  created_at: isoInstant,
  expires_at: isoInstant.nullable(),
  created_by: z.string().describe("The id of the key that made it; `root` for the root key"),
});

export const createdKey = keyFacts
  .extend({ key: z.string().describe("The key itself. It is shown only once.") })
  .meta({ id: "ApiKeyCreateRes" });

const listedKey = keyFacts
  .extend({ last_used_at: isoInstant.nullable().describe("Rounded to a minute; null: never used") })
  .meta({ id: "ApiKey" });
export const keyList = z.object({ api_keys: z.array(listedKey) }).meta({ id: "ApiKeyListRes" });

export const keyParams = z.object({ id: z.string().max(64) });
