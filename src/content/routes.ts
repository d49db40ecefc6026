import multipart from "@fastify/multipart";
import type { FastifyInstance } from "fastify";
import type { ContentDeps } from "./content-deps.ts";
import { fileRoutes } from "./file-routes.ts";
import { objectRoutes } from "./object-routes.ts";
import { tableRoutes } from "./table-routes.ts";

/** Registers the routes for content that the Weave SDKs publish: objects, files, tables. 2xx means durable. */
export async function contentRoutes(root: FastifyInstance, deps: ContentDeps): Promise<void> {
  const fileSize = deps.bodyLimitBytes;
  await root.register(multipart, { limits: { fileSize, files: 1, fields: 10, fieldSize: 1024 } });
  objectRoutes(root, deps);
  fileRoutes(root, deps);
  tableRoutes(root, deps);
}
