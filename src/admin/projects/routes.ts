import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { adminAccess } from "../../http/auth/guard.ts";
import { AppError } from "../../shared/errors.ts";
import { createProjectDeleter, type DeletionDeps } from "./delete-projects.ts";
import type { Deletion } from "./deletion-store.ts";
import {
  deletionParams,
  deletionRes,
  projectParams,
  retentionReq,
  retentionRes,
  startedDeletion,
} from "./schema.ts";
import { readRetention, saveRetention } from "./retention.ts";
import { finishDone } from "./advance-deletions.ts";

const config = { access: adminAccess, tag: "projects" };
const mayDelete = { ...config, audit: "project.delete" } as const;
const maySetRetention = { ...config, audit: "retention.set" } as const;

/** Routes for deletions, each with an id to follow its progress. */
export async function projectRoutes(root: FastifyInstance, deps: DeletionDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const deleteProject = createProjectDeleter(deps);

  app.delete(
    "/projects/:entity/:project",
    { config: mayDelete, schema: deleteProjectSchema },
    async ({ grant, params, audit }, reply) => {
      const project = grant.project(`${params.entity}/${params.project}`, ["path", "project"]);
      audit.begin([project], {});
      const id = await deleteProject(project);
      audit.add({ deletion_id: id });
      return reply.code(202).send({ id, state: "running" });
    },
  );

  const retentionUrl = "/projects/:entity/:project/retention";
  app.get(retentionUrl, { config, schema: readRetentionSchema }, async ({ grant, params }) => {
    const project = grant.project(`${params.entity}/${params.project}`, ["path", "project"]);
    return { days: await readRetention(deps.engine, project) };
  });
  app.put(
    retentionUrl,
    {
      config: maySetRetention,
      schema: setRetentionSchema,
    },
    async ({ grant, params, body, audit }) => {
      const project = grant.project(`${params.entity}/${params.project}`, ["path", "project"]);
      audit.begin([project], {});
      audit.add({ days: body.days });
      await saveRetention(deps.engine, project, body.days);
      return { days: body.days };
    },
  );

  app.get("/deletions/:id", { config, schema: readDeletionSchema }, async ({ grant, params }) => {
    const deletion = await deps.deletions.find(params.id);
    if (deletion === undefined || !grant.covers(deletion.project)) {
      throw new AppError("not_found", "No such deletion.");
    }
    const [now = deletion] = deletion.step === "running" ? await finishDone(deps, [deletion]) : [];
    return toResponse(now);
  });
}

function toResponse(deletion: Deletion) {
  return {
    id: deletion.id,
    project_id: deletion.project,
    what: deletion.kind,
    requested_at: new Date(deletion.requestedAtMs).toISOString(),
    state: deletion.step === "done" ? ("done" as const) : ("running" as const),
    done_at: deletion.doneAtMs === null ? null : new Date(deletion.doneAtMs).toISOString(),
  };
}

const deleteProjectSchema = {
  operationId: "deleteProject",
  summary: "Delete everything that a project has stored",
  description:
    "From then on, no response contains it. Its data is deleted in the background, which `GET /deletions/{id}` follows.",
  success: "The deletion",
  example: { response: { id: "0123456789ab", state: "running" } },
  params: projectParams,
  response: { 202: startedDeletion },
};

const readRetentionSchema = {
  operationId: "readRetention",
  summary: "Get how many days a project keeps its data",
  description: "Null: forever.",
  success: "The number of days",
  example: { response: { days: null } },
  params: projectParams,
  response: { 200: retentionRes },
};

const setRetentionSchema = {
  operationId: "setRetention",
  summary: "Set how many days a project keeps its data",
  description: "Older calls and feedback are deleted within an hour. A call is as old as its first start.",
  success: "The number of days",
  example: { request: { days: 90 }, response: { days: 90 } },
  params: projectParams,
  body: retentionReq,
  response: { 200: retentionRes },
};

const readDeletionSchema = {
  operationId: "readDeletion",
  summary: "Get the progress of a deletion",
  description:
    "`done` means that every replica has rewritten its data without the rows. The files that it replaced leave the disk within eight minutes.",
  success: "The deletion",
  example: {
    response: {
      id: "0123456789ab",
      project_id: "acme/demo",
      what: "project",
      requested_at: "2026-01-15T09:30:00.000Z",
      state: "running",
      done_at: null,
    },
  },
  params: deletionParams,
  response: { 200: deletionRes },
};
