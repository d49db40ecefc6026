import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKey } from "./api-key.ts";

/** The root key kept in a data directory; made, mode 0600, when there is none. `created` tells to print it once. */
export function keptRootKey(dataDir: string): { key: string; created: boolean } {
  const path = join(dataDir, "root-api-key");
  if (existsSync(path)) return { key: readFileSync(path, "utf8").trim(), created: false };
  mkdirSync(dataDir, { recursive: true });
  const { text } = generateKey();
  writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
  return { key: text, created: true };
}
