import { z } from "zod";
import { AUDIT_ACTIONS, AUDIT_OUTCOMES } from "../../http/audit/audit-log.ts";
import { instantMicros, isoInstant, projectId } from "../../http/schemas/fields.ts";

export const MAX_ENTRIES = 1000;
const DEFAULT_ENTRIES = 100;
const MAX_TOKEN_LENGTH = 200;

const action = z.enum(AUDIT_ACTIONS);
const outcome = z
  .enum(AUDIT_OUTCOMES)
  .describe("`refused`: nothing was done. `failed`: part of it may have been done");

export const auditQuery = z.strictObject({
  start: instantMicros.optional().describe("The first instant"),
  end: instantMicros.optional().describe("The instant after the last"),
  action: action.optional(),
  outcome: outcome.optional(),
  key_id: z.string().max(64).optional().describe("Of the key that asked; `root` for the root key"),
  project_id: projectId.max(300).optional().describe("What it was about: a project, `entity/*` or `*`"),
  limit: z.coerce.number().int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES),
  page_token: z.string().max(MAX_TOKEN_LENGTH).optional().describe("`next_page_token` of the page before"),
});

const entry = z
  .object({
    id: z.string(),
    at: isoInstant,
    action,
    projects: z.array(z.string()).describe("What it was about: `*`, `entity/*` or `entity/project`"),
    key_id: z.string(),
    key_name: z.string(),
    request_id: z.string(),
    details: z.record(z.string(), z.unknown()).describe("What was asked for, and what came of it"),
    outcome,
    status: z.number().int().describe("Of the response; 0: there was none"),
  })
  .meta({ id: "AuditEntry" });

export const auditRes = z
  .object({
    entries: z.array(entry).describe("The latest first"),
    next_page_token: z.string().nullable().describe("Null: these are the oldest"),
  })
  .meta({ id: "AuditRes" });
