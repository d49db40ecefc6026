import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { generateKey, type ApiKey } from "../../http/auth/api-key.ts";
import { adminAccess } from "../../http/auth/guard.ts";
import type { Grant } from "../../http/auth/grant.ts";
import type { KeyRing } from "../../http/auth/key-ring.ts";
import type { KeyStore, StoredKey } from "../../http/auth/key-store.ts";
import type { KeyUses } from "../../http/auth/key-uses.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import { createdKey, keyList, keyParams, newKey } from "./schema.ts";

export interface ApiKeyDeps {
  readonly store: KeyStore;
  readonly ring: KeyRing;
  readonly uses: KeyUses;
  readonly clock: Clock;
}

const config = { access: adminAccess };

/** Manages keys. A key can only manage keys whose projects it covers, so nobody can grant more than they have. */
export async function apiKeyRoutes(root: FastifyInstance, deps: ApiKeyDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { store, ring, uses, clock } = deps;

  app.post(
    "/api-keys",
    { config, schema: { body: newKey, response: { 201: createdKey } } },
    async (request, reply) => {
      const { grant, body } = request;
      const createdAtMs = clock.now();
      const foreign = body.projects.findIndex((pattern) => !grant.covers(pattern));
      if (foreign !== -1) throw new AppError("forbidden", "This key may not use one of those projects.");
      if (body.expires_at != null && body.expires_at <= createdAtMs) throw alreadyExpired();
      const { id, text, secretHash } = generateKey();
      const key: StoredKey = {
        id,
        secretHash,
        name: body.name.toWellFormed(),
        scopes: [...new Set(body.scopes)],
        projects: [...new Set(body.projects)],
        expiresAtMs: body.expires_at ?? null,
        createdAtMs,
      };
      await store.add(key);
      ring.forget(id);
      return reply
        .code(201)
        .header("cache-control", "no-store")
        .send({ ...factsOf(key), key: text });
    },
  );

  app.get("/api-keys", { config, schema: { response: { 200: keyList } } }, async ({ grant }) => {
    const [keys, lastUses] = await Promise.all([store.list(), uses.all()]);
    return {
      api_keys: keys
        .filter((key) => isWithin(grant, key))
        .map((key) => ({ ...factsOf(key), last_used_at: toIso(lastUses.get(key.id)) })),
    };
  });

  const revokeRoute = { config, schema: { params: keyParams, response: { 204: z.undefined() } } };
  app.delete("/api-keys/:id", revokeRoute, async ({ grant, params }, reply) => {
    const key = await store.find(params.id);
    if (key === undefined || !isWithin(grant, key)) throw new AppError("not_found", "There is no such key.");
    await store.revoke(key);
    ring.forget(key.id);
    return reply.code(204).send();
  });
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
  };
}

function toIso(epochMs: number | null | undefined): string | null {
  return epochMs == null ? null : new Date(epochMs).toISOString();
}

function alreadyExpired(): AppError {
  return invalid([
    { loc: ["body", "expires_at"], msg: "Input should be in the future", type: "datetime_future" },
  ]);
}
