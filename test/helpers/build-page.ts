import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { until } from "./until.ts";

const WEB = join(import.meta.dirname, "../../web");

/** The page as it is now, built once for all test files of a run. */
export async function buildPage(): Promise<string> {
  const place = join(tmpdir(), "sumtree-page");
  const [dir, built] = [join(place, "files"), join(place, "built")];
  // whoever makes the directory builds
  if (mkdirSync(place, { recursive: true }) === undefined) {
    await until(() => existsSync(built));
    return dir;
  }
  const before = process.env["NODE_ENV"];
  // vitest's "test" would build what React has for development
  process.env["NODE_ENV"] = "production";
  await build({
    root: WEB,
    configFile: join(WEB, "vite.config.ts"),
    logLevel: "error",
    build: { outDir: dir },
  }).finally(() => (process.env["NODE_ENV"] = before));
  writeFileSync(built, "");
  return dir;
}
