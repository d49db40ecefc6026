import type { Engine } from "../../store/engine.ts";
import { param, sql } from "../../query/sql.ts";
import type { ApiKey, Scope } from "./api-key.ts";

/** The valid keys. Revoking a key removes it. */
export interface KeyStore {
  find(id: string): Promise<StoredKey | undefined>;
  list(): Promise<readonly StoredKey[]>;
  ids(): Promise<ReadonlySet<string>>;
  /** `createdAtMs` default: now. */
  add(key: ApiKey & Partial<StoredKey>): Promise<void>;
  revoke(key: StoredKey): Promise<void>;
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

const COLUMNS = sql`id, name, secret_hash, scopes, projects, expires_at_ms, created_at_ms`;

export function createKeyStore(engine: Engine): KeyStore {
  return {
    async find(id) {
      const rows = await engine.rows<KeyRow>(
        sql`SELECT ${COLUMNS} FROM api_keys FINAL WHERE id = ${param("String", id)} AND revoked = 0`,
        { name: "api_key_find" },
      );
      return rows[0] === undefined ? undefined : toKey(rows[0]);
    },
    async list() {
      const rows = await engine.rows<KeyRow>(
        sql`SELECT ${COLUMNS} FROM api_keys FINAL WHERE revoked = 0 ORDER BY created_at_ms, id`,
        { name: "api_key_list" },
      );
      return rows.map(toKey);
    },
    async ids() {
      const rows = await engine.rows<{ id: string }>(sql`SELECT id FROM api_keys FINAL WHERE revoked = 0`, {
        name: "api_key_ids",
      });
      return new Set(rows.map(({ id }) => id));
    },
    add: (key) => engine.insert("api_keys", [{ ...toRow(key), revoked: 0 }], { name: "api_key_add" }),
    revoke: (key) => engine.insert("api_keys", [{ ...toRow(key), revoked: 1 }], { name: "api_key_revoke" }),
  };
}

function toRow(key: ApiKey & Partial<StoredKey>) {
  return {
    id: key.id,
    name: key.name,
    secret_hash: key.secretHash,
    scopes: key.scopes,
    projects: key.projects,
    expires_at_ms: key.expiresAtMs,
    created_at_ms: key.createdAtMs,
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
