import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { generateKey, ROOT_ID, type ApiKey } from "../../http/auth/api-key.ts";
import { adminAccess } from "../../http/auth/guard.ts";
import type { Grant } from "../../http/auth/grant.ts";
import type { KeyRing } from "../../http/auth/key-ring.ts";
import type { StoredKey } from "../../http/auth/key-store.ts";
import type { KeyLastUsed } from "../../http/auth/key-last-used.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { creatorsOf, expiryOf } from "./new-key.ts";
import { schemas } from "./route-schemas.ts";

export interface ApiKeyDeps {
  readonly ring: KeyRing;
  readonly uses: KeyLastUsed;
  readonly clock: Clock;
}

const config = { access: adminAccess, tag: "keys" };
const mayCreate = { ...config, audit: "key.create" } as const;
const mayRevoke = { ...config, audit: "key.revoke" } as const;

/** Manages keys. A key can only manage keys whose projects it covers, so nobody can grant more than they have. */
export async function apiKeyRoutes(root: FastifyInstance, deps: ApiKeyDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { ring, uses, clock } = deps;

  app.post("/api-keys", { config: mayCreate, schema: schemas.createKey }, async (request, reply) => {
    const { grant, body } = request;
    const projects = [...new Set(body.projects)];
    const createdBy = creatorsOf(grant, projects);
    const nowMs = clock.now();
    const expiresAtMs = expiryOf(grant, body.expires_at ?? null, nowMs);
    const { id, text, secretHash } = generateKey();
    const key: StoredKey = {
      id,
      secretHash,
      name: body.name.toWellFormed(),
      scopes: [...new Set(body.scopes)],
      projects,
      expiresAtMs,
      createdBy,
      createdAtMs: nowMs,
    };
    const { name, scopes, expires_at } = factsOf(key);
    request.audit.begin(projects, { name, scopes, expires_at });
    request.audit.add({ id });
    await ring.add(key);
    return reply
      .code(201)
      .header("cache-control", "no-store")
      .send({ ...factsOf(key), key: text });
  });

  app.get("/api-keys", { config, schema: schemas.listKeys }, async ({ grant }) => {
    const [keys, lastUses] = await Promise.all([ring.list(), uses.all()]);
    return {
      api_keys: keys
        .filter((key) => isWithin(grant, key))
        .map((key) => ({ ...factsOf(key), last_used_at: toIso(lastUses.get(key.id)) })),
    };
  });

  app.delete(
    "/api-keys/:id",
    { config: mayRevoke, schema: schemas.revokeKey },
    async ({ grant, params, audit }, reply) => {
      const key = (await ring.list()).find(({ id }) => id === params.id);
      if (key === undefined || !isWithin(grant, key)) throw new AppError("not_found", "No such key.");
      audit.begin(key.projects, { name: key.name });
      audit.add({ id: key.id });
      await ring.revoke(key);
      return reply.code(204).send();
    },
  );
}

function isWithin(grant: Grant, key: ApiKey): boolean {
  return key.projects.every((pattern) => grant.covers(pattern));
}

function factsOf(key: StoredKey) {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    projects: [...key.projects],
    created_at: new Date(key.createdAtMs).toISOString(),
    expires_at: toIso(key.expiresAtMs),
    created_by: key.createdBy.at(-1) ?? ROOT_ID,
  };
}

function toIso(epochMs: number | null | undefined): string | null {
  return epochMs == null ? null : new Date(epochMs).toISOString();
}
