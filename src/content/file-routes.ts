import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { anyAccess, ingestAccess } from "../http/auth/guard.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { describedBody } from "../http/schemas/validation.ts";
import { sendChunks } from "../http/chunks.ts";
import { notFound, projectByDigest } from "./by-digest.ts";
import { readFile, saveFile } from "./files.ts";
import type { ContentDeps } from "./content-deps.ts";
import { schemas } from "./route-schemas.ts";
import { readUpload } from "./upload.ts";

export function fileRoutes(root: FastifyInstance, { engine, writer, bodyLimitBytes }: ContentDeps): void {
  const app = root.withTypeProvider<ZodTypeProvider>();

  const fileCreate = {
    config: { access: ingestAccess, tag: "objects" },
    bodyLimit: bodyLimitBytes,
    ...describedBody,
    schema: schemas.createFile,
  };
  app.post("/file/create", fileCreate, async (request) => {
    const { projectId, content } = await readUpload(request);
    return { digest: await saveFile(writer, request.grant.project(projectId), content) };
  });

  const fileContent = { config: { access: anyAccess, tag: "objects" }, schema: schemas.readFile };
  app.post("/file/content", fileContent, async (request, reply) => {
    const project = projectByDigest(request.grant, request.body.project_id);
    const signal = abortOnClose(reply);
    const file = await readFile(engine, project, { digest: request.body.digest, signal });
    if (file === undefined) throw notFound("file");
    return sendChunks(reply, "application/octet-stream", file);
  });
}
