import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const fileIn = (dataDir: string): string => join(dataDir, "address");

/** Writes the listen URL to the data directory, for commands that find it in use. */
export function writeListenUrl(dataDir: string, url: string): void {
  writeFileSync(fileIn(dataDir), `${url}\n`, { mode: 0o600 });
}

/** Reads the listen URL of the service that uses the data directory; `undefined` if there is none. */
export function readListenUrl(dataDir: string): string | undefined {
  try {
    return readFileSync(fileIn(dataDir), "utf8").trim();
  } catch {
    return undefined;
  }
}
