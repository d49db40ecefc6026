import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { ingestAccess } from "../auth/guard.ts";
import type { Grant } from "../auth/grant.ts";
import { renamePart } from "../calls/call-part.ts";
import { sortBatch } from "../http/sort-batch.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import { writeAccepted } from "./batch.ts";
import { deleteCalls, type DeleteDeps } from "./delete-calls.ts";
import { fromComplete, fromEnd, fromStart, type NewIds } from "./normalize.ts";
import {
  completeSchema,
  deleteBody,
  endBody,
  projectParams,
  startBody,
  updateBody,
  upsertBatchBody,
  upsertItem,
  type CompleteMessage,
  type EndMessage,
  type StartMessage,
} from "./schema.ts";

export interface IngestDeps extends DeleteDeps {
  readonly clock: Clock;
  readonly bodyLimitBytes: number;
  /** Has what the project's deleted calls said taken from the store; returns the receipt's id. */
  readonly askToErase: (project: Project) => Promise<string>;
}

const config = { access: ingestAccess };

/** Calls as the Weave SDKs send them. 2xx means durable. */
export async function ingestRoutes(root: FastifyInstance, deps: IngestDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { writer, bodyLimitBytes: bodyLimit } = deps;

  const start = async (grant: Grant, message: StartMessage) => {
    const part = fromStart(message, newIds());
    await writer.write(grant.project(message.project_id, ["body", "start", "project_id"]), [part]);
    return { id: part.id, trace_id: part.traceId };
  };
  const end = async (grant: Grant, message: EndMessage) => {
    await writer.write(grant.project(message.project_id, ["body", "end", "project_id"]), [fromEnd(message)]);
    return {};
  };

  const startRoute = { config, bodyLimit, schema: { body: startBody } };
  app.post("/call/start", startRoute, (request) => start(request.grant, request.body.start));
  app.post(
    "/v2/:entity/:project/call/start",
    { ...startRoute, schema: { body: startBody, params: projectParams } },
    (request) => start(request.grant, request.body.start),
  );
  const endRoute = { config, bodyLimit, schema: { body: endBody } };
  app.post("/call/end", endRoute, (request) => end(request.grant, request.body.end));
  app.post(
    "/v2/:entity/:project/call/end",
    { ...endRoute, schema: { body: endBody, params: projectParams } },
    (request) => end(request.grant, request.body.end),
  );

  app.post(
    "/call/upsert_batch",
    { config, bodyLimit, schema: { body: upsertBatchBody } },
    async (request) => {
      const { grant } = request;
      const { accepted, rejected } = sortBatch(request.body.batch, upsertItem, (item) =>
        item.mode === "start"
          ? { project: grant.project(item.req.start.project_id), part: fromStart(item.req.start, newIds()) }
          : { project: grant.project(item.req.end.project_id), part: fromEnd(item.req.end) },
      );
      await writeAccepted(writer, accepted);
      const res: object[] = request.body.batch.map(() => ({}));
      for (const { index, part } of accepted) {
        if (part.kind === "start") res[index] = { id: part.id, trace_id: part.traceId };
      }
      for (const { index, detail } of rejected) res[index] = { error: detail };
      return { res, rejected };
    },
  );

  app.post(
    "/v2/:entity/:project/calls/complete",
    { config, bodyLimit, schema: { body: upsertBatchBody, params: projectParams } },
    async (request) => {
      const { grant, params } = request;
      const here = `${params.entity}/${params.project}`;
      const project = grant.project(here, ["path", "project"]);
      const items = request.body.batch.map((item) => inProject(item, here));
      const { accepted, rejected } = sortBatch(items, completeSchema, (message: CompleteMessage) => ({
        project: message.project_id === here ? project : grant.project(message.project_id),
        part: fromComplete(message),
      }));
      await writeAccepted(writer, accepted);
      return { rejected };
    },
  );

  app.post("/call/update", { config, schema: { body: updateBody } }, async (request) => {
    const { project_id, call_id, display_name } = request.body;
    await writer.write(request.grant.project(project_id), [renamePart(call_id, display_name ?? "")]);
    return {};
  });

  app.post("/calls/delete", { config, schema: { body: deleteBody } }, async (request) => {
    const project = request.grant.project(request.body.project_id);
    const deletedAt = deps.clock.now() * 1000;
    const num_deleted = await deleteCalls(deps, project, { ids: request.body.call_ids, deletedAt });
    return { num_deleted, deletion_id: await deps.askToErase(project) };
  });
}

function newIds(): NewIds {
  return { id: randomUUID(), traceId: randomUUID() };
}

/** The project of the path is the project of an item that names none. */
function inProject(item: unknown, projectId: string): unknown {
  return typeof item === "object" && item !== null ? { project_id: projectId, ...item } : item;
}
