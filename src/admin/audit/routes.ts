import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { adminAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { invalid } from "../../shared/errors.ts";
import { isoOf } from "../../shared/instant.ts";
import { parseJson } from "../../shared/json.ts";
import { auditQuery, auditRes } from "./schema.ts";
import { readAudit, type AuditCursor, type AuditRow } from "./store.ts";

/** Who did what with keys, prices, deletions, retention and backups. */
export async function auditRoutes(root: FastifyInstance, { engine }: { engine: Engine }): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/audit",
    { config: { access: adminAccess }, schema: { querystring: auditQuery, response: { 200: auditRes } } },
    async ({ grant, query }) => {
      const { page_token, limit, ...asked } = query;
      const before = page_token === undefined ? undefined : readToken(page_token);
      const rows = await readAudit(engine, grant.key.projects, { ...asked, before, limit: limit + 1 });
      const entries = rows.slice(0, limit);
      const last = rows.length > limit ? entries.at(-1) : undefined;
      return { entries: entries.map(toEntry), next_page_token: last === undefined ? null : tokenAfter(last) };
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

const cursor = z.tuple([z.int(), z.string()]);

function tokenAfter({ at_us, id }: AuditRow): string {
  return Buffer.from(JSON.stringify([at_us, id])).toString("base64url");
}

/** Errors: validation, if it is not one of ours. */
function readToken(token: string): AuditCursor {
  const read = cursor.safeParse(parsed(token));
  if (read.success) return { atUs: read.data[0], id: read.data[1] };
  throw invalid([{ loc: ["query", "page_token"], msg: "This is no token of a page", type: "page_token" }]);
}

function parsed(token: string): unknown {
  try {
    return parseJson(Buffer.from(token, "base64url").toString());
  } catch {
    return undefined;
  }
}
