import type { FastifyInstance } from "fastify";
import { existsSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { builtFile, staticResponse, staticRoute } from "../http/static-response.ts";
import { AppError } from "../shared/errors.ts";
import { pageHeaders } from "./headers.ts";

/** Output directory of `npm run build:page`. */
export const BUILT_PAGE = join(import.meta.dirname, "../../web/built");

const COMPRESSED = /\.(br|gz)$/;
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page at `/` and its files, each a public route of its own. They hold nothing of anybody: the key is the visitor's. */
export async function pageRoutes(app: FastifyInstance, { dir }: { readonly dir: string }): Promise<void> {
  const options = { ...staticRoute, schema: { hide: true } };
  if (!existsSync(join(dir, "index.html"))) {
    app.get("/", options, () => {
      throw new AppError("not_found", "The page is not built: run `npm ci`, or `npm run build:page`.");
    });
    return;
  }
  app.addHook("onSend", async (_request, reply) => {
    void reply.headers(pageHeaders);
  });
  const file = (name: string, cacheControl: string) => {
    const type = types[extname(name)] ?? "application/octet-stream";
    return staticResponse({ type, cacheControl, bytesIn: builtFile(join(dir, name)) });
  };
  app.get("/", options, file("index.html", "no-cache"));
  // file names contain the digest of the content
  for (const name of readdirSync(join(dir, "assets")).filter((name) => !COMPRESSED.test(name)))
    app.get(`/assets/${name}`, options, file(`assets/${name}`, "public, max-age=31536000, immutable"));
}
