import type { Engine } from "../../store/engine.ts";
import { sql } from "../../query/sql.ts";
import type { ApiKey, Scope } from "./api-key.ts";

/** Store of valid keys: neither they nor any of the keys that created them are revoked. */
export interface KeyStore {
  list(): Promise<readonly StoredKey[]>;
  /** Default: created now by the root key. */
  add(key: Omit<ApiKey, "createdBy"> & Partial<StoredKey>): Promise<void>;
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
  readonly created_by: readonly string[];
}

export function createKeyStore(engine: Engine): KeyStore {
  return {
    async list() {
      const rows = await engine.rows<KeyRow>(
        sql`SELECT id, name, secret_hash, scopes, projects, expires_at_ms, created_at_ms, created_by
            FROM api_keys FINAL WHERE revoked = 0 ORDER BY created_at_ms, id`,
        { name: "api_key_list" },
      );
      const keys = rows.map(toKey);
      const byId = new Map(keys.map((key) => [key.id, key]));
      return keys.flatMap((key) => withCreatorExpiry(key, byId));
    },
    add: (key) => engine.insert("api_keys", [{ ...toRow(key), revoked: 0 }], { name: "api_key_add" }),
    revoke: (key) => engine.insert("api_keys", [{ ...toRow(key), revoked: 1 }], { name: "api_key_revoke" }),
  };
}

/** Returns the key with the earliest expiry of its creators; nothing if one of them is missing. */
function withCreatorExpiry(key: StoredKey, valid: ReadonlyMap<string, StoredKey>): readonly StoredKey[] {
  const creators = key.createdBy.map((id) => valid.get(id));
  if (creators.includes(undefined)) return [];
  const expiresAtMs = earliest([key, ...creators].map((one) => one?.expiresAtMs));
  return [{ ...key, expiresAtMs }];
}

/** Returns the earliest instant; null and undefined mean never. */
export function earliest(instants: readonly (number | null | undefined)[]): number | null {
  const known = instants.filter((ms) => ms != null);
  return known.length === 0 ? null : Math.min(...known);
}

function toRow(key: Omit<ApiKey, "createdBy"> & Partial<StoredKey>) {
  return {
    id: key.id,
    name: key.name,
    secret_hash: key.secretHash,
    scopes: key.scopes,
    projects: key.projects,
    expires_at_ms: key.expiresAtMs,
    created_at_ms: key.createdAtMs,
    created_by: key.createdBy ?? [],
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
    createdBy: row.created_by,
    createdAtMs: row.created_at_ms,
  };
}
