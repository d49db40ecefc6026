import { hash, randomBytes, timingSafeEqual } from "node:crypto";

export const SCOPES = ["ingest", "read", "gateway", "train", "prices", "calls:delete", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** A stored API key, without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the whole key text, in hex. A secret of 256 random bits needs no slow hash. */
  readonly secretHash: string;
  readonly scopes: readonly Scope[];
  /** `*`, `entity/*` or `entity/project`. */
  readonly projects: readonly string[];
  /** Milliseconds since the epoch; null: never. At most the expiry of the keys that created it. */
  readonly expiresAtMs: number | null;
  /** Ids of the keys that created it, from the one created by the root key to its direct creator. Empty: the root key. */
  readonly createdBy: readonly string[];
}

/** Id of the root key; no stored key has an id of this form. */
export const ROOT_ID = "root";

const KEY_FORM = /^st_([0-9a-z]{12})_([\w-]{43,86})$/;

/** Creates a key: its id, the text to show once, and the hash to store. */
export function generateKey(): { id: string; text: string; secretHash: string } {
  const id = randomBytes(9).toString("hex").slice(0, 12);
  const text = `st_${id}_${randomBytes(32).toString("base64url")}`;
  return { id, text, secretHash: hashKey(text) };
}

export function hashKey(text: string): string {
  return hash("sha256", text);
}

/** Parses the id from a key's text; undefined for other text. */
export function keyIdOf(text: string): string | undefined {
  return KEY_FORM.exec(text)?.[1];
}

/** Compares the hash of a presented key with a stored one in constant time. */
export function matches(presentedHash: string, secretHash: string): boolean {
  return timingSafeEqual(Buffer.from(presentedHash, "hex"), Buffer.from(secretHash, "hex"));
}

/** True if the key has the scope: `admin` implies every scope, `train` implies `gateway`. */
export function hasScope(key: ApiKey, scope: Scope): boolean {
  const implied = scope === "gateway" ? (["admin", "train"] as const) : (["admin"] as const);
  return [scope, ...implied].some((one) => key.scopes.includes(one));
}

/** True if the key covers all projects of a pattern: `entity/project`, `entity/*` or `*`. */
export function mayUse(key: ApiKey, pattern: string): boolean {
  return key.projects.some(
    (allowed) =>
      allowed === "*" ||
      allowed === pattern ||
      (allowed.endsWith("/*") &&
        pattern.startsWith(allowed.slice(0, -1)) &&
        pattern.length > allowed.length - 1),
  );
}
