import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../shared/errors.ts";
import { pageHeaders } from "./headers.ts";

/** The output of `npm run build:page`. */
export const BUILT_PAGE = join(import.meta.dirname, "../../web/built");

const COMPRESSED = /\.(br|gz)$/;
const YEAR_MS = 31_536_000_000;

/** The page at `/` and its files, each a public route of its own. They contain no data: the visitor brings the key. */
export async function pageRoutes(app: FastifyInstance, { dir }: { readonly dir: string }): Promise<void> {
  const options = { config: { access: "public" }, exposeHeadRoute: true, schema: { hide: true } } as const;
  if (!existsSync(join(dir, "index.html"))) {
    app.get("/", options, () => {
      throw new AppError("not_found", "The page is not built: run `npm ci`, or `npm run build:page`.");
    });
    return;
  }
  await app.register(fastifyStatic, { root: dir, serve: false, preCompressed: true, cacheControl: false });
  app.addHook("onSend", async (_request, reply) => {
    void reply.headers(pageHeaders);
  });
  app.get("/", options, (_request, reply) =>
    reply.header("cache-control", "no-cache").sendFile("index.html"),
  );
  // file names contain the digest of the content
  const immutable = { cacheControl: true, maxAge: YEAR_MS, immutable: true };
  for (const name of readdirSync(join(dir, "assets")).filter((name) => !COMPRESSED.test(name))) {
    app.get(`/assets/${name}`, options, (_request, reply) => reply.sendFile(`assets/${name}`, immutable));
  }
}
