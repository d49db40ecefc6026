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
import { finishIfGone } from "./advance-deletions.ts";

const config = { access: adminAccess };
const mayDelete = { ...config, audit: "project.delete" } as const;
const maySetRetention = { ...config, audit: "retention.set" } as const;

/** Deletions, each with an id that shows when the data is gone. */
export async function projectRoutes(root: FastifyInstance, deps: DeletionDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const deleteProject = createProjectDeleter(deps);

  app.delete(
    "/projects/:entity/:project",
    { config: mayDelete, schema: { params: projectParams, response: { 202: startedDeletion } } },
    async ({ grant, params, audit }, reply) => {
      const project = grant.project(`${params.entity}/${params.project}`, ["path", "project"]);
      await audit.begin([project], {});
      const { id } = await deleteProject(project);
      audit.add({ deletion_id: id });
      return reply.code(202).send({ id, state: "running" });
    },
  );

  const retentionUrl = "/projects/:entity/:project/retention";
  app.get(
    retentionUrl,
    { config, schema: { params: projectParams, response: { 200: retentionRes } } },
    async ({ grant, params }) => {
      const project = grant.project(`${params.entity}/${params.project}`, ["path", "project"]);
      return { days: await readRetention(deps, project) };
    },
  );
  app.put(
    retentionUrl,
    {
      config: maySetRetention,
      schema: { params: projectParams, body: retentionReq, response: { 200: retentionRes } },
    },
    async ({ grant, params, body, audit }) => {
      const project = grant.project(`${params.entity}/${params.project}`, ["path", "project"]);
      await audit.begin([project], {});
      audit.add({ days: body.days });
      await saveRetention(deps, project, body.days);
      return { days: body.days };
    },
  );

  app.get(
    "/deletions/:id",
    { config, schema: { params: deletionParams, response: { 200: deletionRes } } },
    async ({ grant, params }) => {
      const deletion = await deps.deletions.find(params.id);
      if (deletion === undefined || !grant.covers(deletion.project)) {
        throw new AppError("not_found", "There is no such deletion.");
      }
      const [now = deletion] = deletion.step === "running" ? await finishIfGone(deps, [deletion]) : [];
      return toResponse(now);
    },
  );
}

function toResponse(deletion: Deletion) {
  return {
    id: deletion.id,
    project_id: deletion.project,
    what: deletion.what,
    requested_at: new Date(deletion.requestedAtMs).toISOString(),
    state: deletion.step === "done" ? ("done" as const) : ("running" as const),
    done_at: deletion.doneAtMs === null ? null : new Date(deletion.doneAtMs).toISOString(),
  };
}
