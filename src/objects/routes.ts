import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { anyAccess, ingestAccess, readAccess } from "../auth/guard.ts";
import type { Grant } from "../auth/grant.ts";
import type { Engine } from "../clickhouse/engine.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { JSON_TYPE, sendJsonText } from "../http/json-text.ts";
import { bodyOf } from "../http/pieces.ts";
import { describedBody } from "../http/validation.ts";
import { AppError } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import type { ContentWriter } from "./content-writer.ts";
import { rowsOfTable, saveTable, tableText } from "./data-tables.ts";
import { readFile, saveFile } from "./files.ts";
import { readObject, saveObject } from "./objects.ts";
import {
  fileContentBody,
  fileContentRes,
  fileCreateForm,
  fileCreateRes,
  objCreateBody,
  objCreateRes,
  objReadBody,
  objReadRes,
  tableCreateBody,
  tableCreateRes,
  tableQueryBody,
  tableQueryRes,
} from "./schema.ts";
import { readUpload } from "./upload.ts";

export interface ObjectDeps {
  readonly engine: Engine;
  readonly writer: ContentWriter;
  readonly bodyLimitBytes: number;
}

/** What the Weave SDKs publish and read back by content: objects, files, tables. 2xx means durable. */
export async function objectRoutes(root: FastifyInstance, deps: ObjectDeps): Promise<void> {
  const { engine, writer, bodyLimitBytes: bodyLimit } = deps;
  await root.register(multipart, { limits: { fileSize: bodyLimit, files: 1, fields: 10, fieldSize: 1024 } });
  const app = root.withTypeProvider<ZodTypeProvider>();
  const ingest = { config: { access: ingestAccess }, bodyLimit };
  const byDigest = { config: { access: anyAccess }, bodyLimit };

  const objCreate = { ...ingest, schema: { body: objCreateBody, response: { 200: objCreateRes } } };
  app.post("/obj/create", objCreate, async (request) => {
    const { project_id, object_id, val, builtin_object_class, set_base_object_class } = request.body.obj;
    const project = request.grant.project(project_id, ["body", "obj", "project_id"]);
    const baseClass = builtin_object_class ?? set_base_object_class ?? undefined;
    return { digest: await saveObject(writer, project, { objectId: object_id, val, baseClass }) };
  });

  const objRead = {
    config: { access: readAccess },
    schema: { body: objReadBody, response: { 200: objReadRes } },
  };
  app.post("/obj/read", objRead, async (request, reply) => {
    const { project_id, object_id, digest } = request.body;
    const project = request.grant.project(project_id);
    const object = await readObject(engine, project, { objectId: object_id, version: digest });
    if (object === undefined) throw notFound("object");
    return sendJsonText(reply, `{"obj":${object}}`);
  });

  const fileCreate = {
    ...ingest,
    ...describedBody,
    schema: {
      consumes: ["multipart/form-data"],
      body: fileCreateForm,
      response: { 200: fileCreateRes },
    },
  };
  app.post("/file/create", fileCreate, async (request) => {
    const { projectId, content } = await readUpload(request);
    return { digest: await saveFile(writer, request.grant.project(projectId), content) };
  });

  const fileContent = { ...byDigest, schema: { body: fileContentBody, response: { 200: fileContentRes } } };
  app.post("/file/content", fileContent, async (request, reply) => {
    const project = projectByDigest(request.grant, request.body.project_id);
    const signal = abortOnClose(reply);
    const file = await readFile(engine, project, { digest: request.body.digest, signal });
    if (file === undefined) throw notFound("file");
    return sendPieces(reply, "application/octet-stream", file);
  });

  const tableCreate = { ...ingest, schema: { body: tableCreateBody, response: { 200: tableCreateRes } } };
  app.post("/table/create", tableCreate, async (request, reply) => {
    const { project_id, rows } = request.body.table;
    const project = request.grant.project(project_id, ["body", "table", "project_id"]);
    const { digest, rowDigests } = await saveTable(writer, project, rows);
    return sendJsonText(reply, JSON.stringify({ digest, row_digests: rowDigests }));
  });

  const tableQuery = { ...byDigest, schema: { body: tableQueryBody, response: { 200: tableQueryRes } } };
  app.post("/table/query", tableQuery, async (request, reply) => {
    const { project_id, digest, filter, offset, limit } = request.body;
    const project = projectByDigest(request.grant, project_id);
    const rows = await rowsOfTable(engine, project, {
      digest,
      rowDigests: filter?.row_digests ?? undefined,
      offset: offset ?? 0,
      limit: limit ?? undefined,
    });
    if (rows === undefined) throw notFound("table");
    const pieces = tableText(engine, project, { digests: rows, signal: abortOnClose(reply) });
    return sendPieces(reply, JSON_TYPE, pieces);
  });
}

async function sendPieces(
  reply: FastifyReply,
  type: string,
  pieces: AsyncGenerator<Buffer>,
): Promise<FastifyReply> {
  return reply.type(type).send(await bodyOf(pieces));
}

/**
 * A digest can only be known from the content or from somebody who may read it, so a key that may only write can
 * read back what it wrote, as the SDKs do.
 */
function projectByDigest(grant: Grant, projectId: string): Project {
  if (!grant.has("read") && !grant.has("ingest")) {
    throw new AppError("forbidden", "This key has neither the scope read nor the scope ingest.");
  }
  return grant.project(projectId);
}

function notFound(what: string): AppError {
  return new AppError("not_found", `There is no such ${what}.`);
}
