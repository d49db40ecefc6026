import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const fileIn = (dataDir: string): string => join(dataDir, "address");

/** Writes the address beside the data, for commands that find the data in use. */
export function writeListenUrl(dataDir: string, url: string): void {
  writeFileSync(fileIn(dataDir), `${url}\n`, { mode: 0o600 });
}

/** Where the service that has the data open listens, as it noted; undefined if it did not. */
export function readListenUrl(dataDir: string): string | undefined {
  try {
    return readFileSync(fileIn(dataDir), "utf8").trim();
  } catch {
    return undefined;
  }
}
