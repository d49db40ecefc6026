import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { ingestAccess, readAccess } from "../http/auth/guard.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { JSON_TYPE, sendJsonText } from "../http/json-text.ts";
import { invalid, type Issue } from "../shared/errors.ts";
import { sendChunks } from "../http/chunks.ts";
import { notFound } from "./by-digest.ts";
import { parseContentRef, type ContentRef } from "./content-ref.ts";
import { objectListText, objectText } from "./object-text.ts";
import { findVersion, listVersions } from "./object-versions.ts";
import { refListText } from "./read-refs.ts";
import type { ContentDeps } from "./content-deps.ts";
import { saveObject } from "./save-object.ts";
import { MAX_LISTED_VERSIONS } from "./schema.ts";
import { schemas } from "./route-schemas.ts";

export function objectRoutes(root: FastifyInstance, { engine, writer, bodyLimitBytes }: ContentDeps): void {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const config = { access: readAccess, tag: "objects" };

  const create = {
    config: { access: ingestAccess, tag: "objects" },
    bodyLimit: bodyLimitBytes,
    schema: schemas.createObject,
  };
  app.post("/obj/create", create, async (request) => {
    const { project_id, object_id, val, builtin_object_class, set_base_object_class } = request.body.obj;
    const project = request.grant.project(project_id, ["body", "obj", "project_id"]);
    const baseClass = builtin_object_class ?? set_base_object_class ?? undefined;
    return { digest: await saveObject(writer, project, { objectId: object_id, val, baseClass }) };
  });

  app.post("/obj/read", { config, schema: schemas.readObject }, async (request, reply) => {
    const { project_id, object_id, digest, metadata_only } = request.body;
    const project = request.grant.project(project_id);
    const version = await findVersion(engine, project, { objectId: object_id, version: digest });
    const withValue = metadata_only !== true;
    const text = version && (await objectText(engine, project, { version, withValue }));
    if (text === undefined) throw notFound("object");
    return sendJsonText(reply, text);
  });

  app.post("/objs/query", { config, schema: schemas.listObjects }, async (request, reply) => {
    const { project_id, filter, sort_by, limit, offset, metadata_only } = request.body;
    const project = request.grant.project(project_id);
    const signal = abortOnClose(reply);
    const maxVersions = Math.min(limit ?? MAX_LISTED_VERSIONS, MAX_LISTED_VERSIONS);
    const found = await listVersions(engine, project, {
      filter: {
        objectIds: filter?.object_ids ?? undefined,
        kind: filter?.is_op == null ? undefined : filter.is_op ? "op" : "object",
        baseClasses: filter?.base_object_classes ?? undefined,
        baseClassesNot: filter?.exclude_base_object_classes ?? undefined,
        leafClasses: filter?.leaf_object_classes ?? undefined,
        latestOnly: filter?.latest_only ?? undefined,
      },
      page: { order: sort_by ?? [], limit: maxVersions + 1, offset: offset ?? 0 },
      signal,
    });
    void reply.header("x-truncated", String(found.length > maxVersions));
    const options = { engine, project, signal, withValues: metadata_only !== true };
    return sendChunks(reply, JSON_TYPE, objectListText(found.slice(0, maxVersions), options));
  });

  app.post("/refs/read_batch", { config, schema: schemas.readRefs }, async (request, reply) => {
    const parsed = request.body.refs.map(parseContentRef);
    const issues = parsed.flatMap((ref, at) => (ref === undefined ? [invalidRef(at)] : []));
    if (issues.length > 0) throw invalid(issues);
    const refs = parsed as ContentRef[];
    for (const [at, ref] of refs.entries()) request.grant.project(ref.projectId, ["body", "refs", at]);
    const reading = { engine, grant: request.grant, signal: abortOnClose(reply) };
    return sendChunks(reply, JSON_TYPE, refListText(refs, reading));
  });
}

function invalidRef(at: number): Issue {
  const msg = "Input should be a reference to an object, an op or a row of a table";
  return { loc: ["body", "refs", at], msg, type: "value_error" };
}
