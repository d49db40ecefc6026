import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";

const WEB = join(import.meta.dirname, "../../web");

/** The page as it is now, built into a directory of its own. */
export async function buildPage(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-page-"));
  const before = process.env["NODE_ENV"];
  // vitest's "test" would build what React has for development
  process.env["NODE_ENV"] = "production";
  await build({
    root: WEB,
    configFile: join(WEB, "vite.config.ts"),
    logLevel: "error",
    build: { outDir: dir },
  }).finally(() => (process.env["NODE_ENV"] = before));
  return dir;
}
