import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { adminAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { isoOf } from "../../shared/instant.ts";
import { parseJson } from "../../shared/json.ts";
import { parseToken, printToken } from "../../http/page-token.ts";
import { auditQuery, auditRes } from "./schema.ts";
import { readAudit, type AuditRow } from "./store.ts";

/** Audit log of actions on keys, prices, deletions, retention and backups. */
export async function auditRoutes(root: FastifyInstance, { engine }: { engine: Engine }): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/audit",
    { config: { access: adminAccess }, schema: readAuditSchema },
    async ({ grant, query }) => {
      const { page_token, limit, ...requested } = query;
      const before = page_token === undefined ? undefined : parseToken(page_token, tokens);
      const rows = await readAudit(engine, grant.key.projects, { ...requested, before, limit: limit + 1 });
      const entries = rows.slice(0, limit);
      const last = rows.length > limit ? entries.at(-1) : undefined;
      const next_page_token = last === undefined ? null : printToken([last.at_us, last.id], tokens.selection);
      return { entries: entries.map(toEntry), next_page_token };
    },
  );
}

function toEntry({ at_us, details, ...row }: AuditRow) {
  return {
    ...row,
    projects: [...row.projects],
    at: isoOf(at_us),
    details: parseJson(details) as Record<string, unknown>,
  };
}

const place = z.tuple([z.int(), z.string()]);
const tokens = { place, selection: "audit", from: "query" } as const;

const readAuditSchema = {
  operationId: "readAudit",
  summary: "List who did what with keys, prices, deletions, retention and backups",
  description:
    "Only entries about projects that are all among those of the requesting key. Entries are kept for two years; nobody can change or delete them.",
  success: "The entries",
  example: {
    response: {
      entries: [
        {
          id: "0b0f9c0e-5a3c-4c8e-9d7a-2f6f4f0f9b11",
          at: "2026-01-15T09:30:00.000001Z",
          action: "key.create",
          projects: ["acme/demo"],
          key_id: "root",
          key_name: "root",
          request_id: "7d1f5d8e-3a55-4b47-8f0b-0c9d5f8a2a10",
          details: { name: "ingest of the demo", scopes: ["ingest"], expires_at: null, id: "0123456789ab" },
          outcome: "done",
          status: 201,
        },
      ],
      next_page_token: null,
    },
  },
  querystring: auditQuery,
  response: { 200: auditRes },
};
