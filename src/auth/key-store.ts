import type { Engine } from "../clickhouse/engine.ts";
import { param, sql } from "../query/sql.ts";
import type { ApiKey, Scope } from "./api-key.ts";

/** Keys that are in force. A revoked key is gone from here. */
export interface KeyStore {
  find(id: string): Promise<ApiKey | undefined>;
  list(): Promise<readonly StoredKey[]>;
  add(key: ApiKey): Promise<void>;
  /** False when there is no such key. */
  revoke(id: string): Promise<boolean>;
}

export interface StoredKey extends ApiKey {
  readonly createdAtMs: number;
}

interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly secret_hash: string;
  readonly scopes: readonly Scope[];
  readonly projects: readonly string[];
  readonly expires_at_ms: number | null;
  readonly created_at_ms: number;
}

export function createKeyStore(engine: Engine): KeyStore {
  const find = async (id: string): Promise<StoredKey | undefined> => {
    const rows = await engine.rows<KeyRow>(
      sql`SELECT id, name, secret_hash, scopes, projects, expires_at_ms, created_at_ms
          FROM api_keys FINAL WHERE id = ${param("String", id)} AND revoked = 0`,
      { name: "api_key_find" },
    );
    return rows[0] === undefined ? undefined : toKey(rows[0]);
  };
  return {
    find,
    async list() {
      const rows = await engine.rows<KeyRow>(
        sql`SELECT id, name, secret_hash, scopes, projects, expires_at_ms, created_at_ms
            FROM api_keys FINAL WHERE revoked = 0 ORDER BY created_at_ms, id`,
        { name: "api_key_list" },
      );
      return rows.map(toKey);
    },
    async add(key) {
      await engine.insert("api_keys", [{ ...toRow(key), revoked: 0 }], { name: "api_key_add" });
    },
    async revoke(id) {
      const key = await find(id);
      if (key === undefined) return false;
      await engine.insert("api_keys", [{ ...toRow(key), created_at_ms: key.createdAtMs, revoked: 1 }], {
        name: "api_key_revoke",
      });
      return true;
    },
  };
}

function toRow(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    secret_hash: key.secretHash,
    scopes: key.scopes,
    projects: key.projects,
    expires_at_ms: key.expiresAtMs,
  };
}

function toKey(row: KeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    secretHash: row.secret_hash,
    scopes: row.scopes,
    projects: row.projects,
    expiresAtMs: row.expires_at_ms,
    createdAtMs: row.created_at_ms,
  };
}
