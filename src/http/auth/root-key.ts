import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKey, keyIdOf } from "./api-key.ts";

const fileIn = (dataDir: string): string => join(dataDir, "root-api-key");

/**
 * Reads the root key of a data directory, or creates one for `keepRootKey` to store. Throws for a file without a key, which
 * must not be replaced by one that anybody can guess.
 */
export function rootKeyOf(dataDir: string): { key: string; isNew: boolean } {
  const path = fileIn(dataDir);
  if (!existsSync(path)) return { key: generateKey().text, isNew: true };
  const key = readFileSync(path, "utf8").trim();
  if (keyIdOf(key) === undefined) throw new DamagedRootKeyError(path);
  return { key, isNew: false };
}

/** Writes a file of mode 0600 and returns its path. */
export function keepRootKey(dataDir: string, key: string): string {
  const path = fileIn(dataDir);
  writeFileSync(`${path}.new`, `${key}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  return path;
}

export class DamagedRootKeyError extends Error {
  constructor(path: string) {
    super(`${path} holds no key. Delete it and start again to get a new one, or set ROOT_API_KEY.`);
    this.name = "DamagedRootKeyError";
  }
}
