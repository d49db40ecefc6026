import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKey, keyIdOf } from "./api-key.ts";

/**
 * The root key kept in a data directory; made, mode 0600, when there is none. `created` tells to print it once.
 * Errors: a file that holds no key, which must not become one that anybody can guess.
 */
export function keptRootKey(dataDir: string): { key: string; created: boolean } {
  const path = join(dataDir, "root-api-key");
  if (existsSync(path)) {
    const key = readFileSync(path, "utf8").trim();
    if (keyIdOf(key) === undefined) throw new DamagedRootKeyError(path);
    return { key, created: false };
  }
  mkdirSync(dataDir, { recursive: true });
  const { text } = generateKey();
  writeFileSync(`${path}.new`, `${text}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  return { key: text, created: true };
}

export class DamagedRootKeyError extends Error {
  constructor(path: string) {
    super(`${path} holds no key. Delete it and start again to get a new one, or set ROOT_API_KEY.`);
    this.name = "DamagedRootKeyError";
  }
}
