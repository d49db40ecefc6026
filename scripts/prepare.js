// Builds the page after an install. Plain JavaScript: it runs before anything is known of the Node there is.
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

if (existsSync(join(ROOT, "node_modules/vite")) && existsSync(join(ROOT, "web"))) {
  const { build } = await import("vite");
  await build({ root: join(ROOT, "web"), configFile: join(ROOT, "web/vite.config.ts"), logLevel: "warn" });
} else {
  console.log("The page is not built: without development dependencies there is nothing to build it with.");
}
