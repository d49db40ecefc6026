import { hash, randomBytes, timingSafeEqual } from "node:crypto";

export const SCOPES = ["ingest", "read", "gateway", "train", "prices", "calls:delete", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** A stored key. The secret is shown once and never stored. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the whole key text, in hex. A secret of 256 random bits needs no slow hash. */
  readonly secretHash: string;
  readonly scopes: readonly Scope[];
  /** `*`, `entity/*` or `entity/project`. */
  readonly projects: readonly string[];
  /** Milliseconds since the epoch; null: never. Not after those of its makers. */
  readonly expiresAtMs: number | null;
  /** The ids of the keys that made it: first one that the root key made, last its own maker. None: the root key made it. */
  readonly makers: readonly string[];
}

/** No key of the store has an id of this form. */
export const ROOT_ID = "root";

const KEY_FORM = /^st_([0-9a-z]{12})_([\w-]{43,86})$/;

/** A new key: its id, the text to show once, and the hash to keep. */
export function generateKey(): { id: string; text: string; secretHash: string } {
  const id = randomBytes(9).toString("hex").slice(0, 12);
  const text = `st_${id}_${randomBytes(32).toString("base64url")}`;
  return { id, text, secretHash: hashKey(text) };
}

export function hashKey(text: string): string {
  return hash("sha256", text);
}

/** The id in the text of a key; undefined for other text. */
export function keyIdOf(text: string): string | undefined {
  return KEY_FORM.exec(text)?.[1];
}

/** Constant-time comparison of a presented key's hash with a stored one. */
export function matches(presentedHash: string, secretHash: string): boolean {
  return timingSafeEqual(Buffer.from(presentedHash, "hex"), Buffer.from(secretHash, "hex"));
}

/** `admin` implies every scope, `train` implies `gateway`. */
export function hasScope(key: ApiKey, scope: Scope): boolean {
  const implied = scope === "gateway" ? (["admin", "train"] as const) : (["admin"] as const);
  return [scope, ...implied].some((one) => key.scopes.includes(one));
}

/** `pattern` is a project, `entity/*` or `*`; true when the key covers all of its projects. */
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
