import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../shared/errors.ts";
import { pageHeaders } from "./headers.ts";

/** Output directory of `npm run build:page`. */
export const BUILT_PAGE = join(import.meta.dirname, "../../web/built");

const route = { config: { access: "public" }, exposeHeadRoute: true, schema: { hide: true } } as const;

/** The page at `/` and its files, compressed when they were built. They hold nothing of anybody: the key is the visitor's. */
export async function pageRoutes(app: FastifyInstance, { dir }: { readonly dir: string }): Promise<void> {
  if (!existsSync(join(dir, "index.html"))) {
    app.get("/", route, () => {
      throw new AppError("not_found", "The page is not built: run `npm ci`, or `npm run build:page`.");
    });
    return;
  }
  await app.register(fastifyStatic, { root: dir, serve: false, preCompressed: true, cacheControl: false });
  app.addHook("onSend", async (_request, reply) => {
    void reply.headers(pageHeaders);
  });
  app.get("/", route, (_request, reply) => reply.header("cache-control", "no-cache").sendFile("index.html"));
  app.get<{ Params: { name: string } }>("/assets/:name", route, ({ params }, reply) =>
    // file names contain the digest of the content
    reply.header("cache-control", "public, max-age=31536000, immutable").sendFile(`assets/${params.name}`),
  );
}
