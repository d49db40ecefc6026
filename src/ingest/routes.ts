import type { FastifyInstance, FastifyReply } from "fastify";
import type { z } from "zod";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { deleteAccess, ingestAccess } from "../http/auth/guard.ts";
import { firstOf } from "../http/audit/register-audit.ts";
import { renameEvent, type CallEvent } from "../calls/events/call-event.ts";
import { sendJsonText } from "../http/json-text.ts";
import { validateBatch } from "../http/validate-batch.ts";
import type { Clock } from "../shared/clock.ts";
import { invalid } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import { writeAccepted } from "./batch.ts";
import { deleteCalls, type DeleteDeps } from "./delete-calls.ts";
import { fromComplete, fromEnd, fromStart } from "./normalize.ts";
import { completeOfPath, type projectParams, upsertItem, type EndMessage } from "./schema.ts";
import { schemas } from "./route-schemas.ts";

export interface IngestDeps extends DeleteDeps {
  readonly clock: Clock;
  readonly bodyLimitBytes: number;
  /** Starts erasing the content of the project's deleted calls; returns the deletion's id. */
  readonly requestErasure: (project: Project) => Promise<string>;
}

const config = { access: ingestAccess, tag: "calls" };

/** Registers the routes that store calls, as the Weave SDKs send them. 2xx means durable. */
export async function ingestRoutes(root: FastifyInstance, deps: IngestDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { writer, bodyLimitBytes: bodyLimit } = deps;

  const start = async (reply: FastifyReply, project: Project, event: CallEvent) => {
    const [trace_id] = await writer.write(project, [event]);
    return sendJsonText(reply, JSON.stringify({ id: event.id, trace_id }));
  };
  const end = async (project: Project, message: EndMessage) => {
    await writer.write(project, [fromEnd(message)]);
    return {};
  };

  app.post("/call/start", { config, bodyLimit, schema: schemas.startCall }, ({ grant, body }, reply) =>
    start(
      reply,
      grant.project(body.start.project_id, ["body", "start", "project_id"]),
      fromStart(body.start, grant.keyId),
    ),
  );
  app.post(
    "/v2/:entity/:project/call/start",
    { config, bodyLimit, schema: schemas.startCallV2 },
    ({ grant, params, body }, reply) => {
      const project_id = projectOfPath(params, body.start, ["body", "start"]);
      const event = fromStart({ ...body.start, project_id }, grant.keyId);
      return start(reply, grant.project(project_id, ["path", "project"]), event);
    },
  );
  app.post("/call/end", { config, bodyLimit, schema: schemas.endCall }, ({ grant, body }) =>
    end(grant.project(body.end.project_id, ["body", "end", "project_id"]), body.end),
  );
  app.post(
    "/v2/:entity/:project/call/end",
    { config, bodyLimit, schema: schemas.endCallV2 },
    ({ grant, params, body }) => {
      const project_id = projectOfPath(params, body.end, ["body", "end"]);
      return end(grant.project(project_id, ["path", "project"]), { ...body.end, project_id });
    },
  );

  await batchRoutes(root, deps);

  app.post("/call/update", { config, schema: schemas.renameCall }, async (request) => {
    const { project_id, call_id, display_name } = request.body;
    await writer.write(request.grant.project(project_id), [renameEvent(call_id, display_name)]);
    return {};
  });

  const deleteRoute = {
    config: { access: deleteAccess, audit: "calls.delete", tag: "calls" } as const,
    schema: schemas.deleteCalls,
  };
  app.post("/calls/delete", deleteRoute, async (request) => {
    const project = request.grant.project(request.body.project_id);
    request.audit.begin([project], firstOf("call_ids", request.body.call_ids));
    const deletedAt = deps.clock.now() * 1000;
    const num_deleted = await deleteCalls(deps, project, { ids: request.body.call_ids, deletedAt });
    const deletion_id = await deps.requestErasure(project);
    request.audit.add({ num_deleted, deletion_id });
    return { num_deleted, deletion_id };
  });
}

/** Registers the batch routes. Invalid messages are rejected and listed in the response; the others are stored. */
async function batchRoutes(root: FastifyInstance, deps: IngestDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { writer, bodyLimitBytes: bodyLimit } = deps;

  app.post(
    "/call/upsert_batch",
    { config, bodyLimit, schema: schemas.upsertCalls },
    async (request, reply) => {
      const { grant } = request;
      const { accepted, rejected } = await validateBatch(request.body.batch, upsertItem, (item) =>
        item.mode === "start"
          ? {
              project: grant.project(item.req.start.project_id),
              event: fromStart(item.req.start, grant.keyId),
            }
          : { project: grant.project(item.req.end.project_id), event: fromEnd(item.req.end) },
      );
      const traceIds = await writeAccepted(writer, accepted);
      const res: object[] = request.body.batch.map(() => ({}));
      for (const { index, event } of accepted) {
        if (event.isStart) res[index] = { id: event.id, trace_id: traceIds.get(event) };
      }
      for (const { index, detail } of rejected) res[index] = { error: detail };
      return sendJsonText(reply, JSON.stringify({ res, rejected }));
    },
  );

  app.post(
    "/v2/:entity/:project/calls/complete",
    { config, bodyLimit, schema: schemas.completeCalls },
    async (request, reply) => {
      const { grant, params } = request;
      const project = grant.project(`${params.entity}/${params.project}`, ["path", "project"]);
      const { accepted, rejected } = await validateBatch(
        request.body.batch,
        completeOfPath,
        (message: z.output<typeof completeOfPath>) => {
          const project_id = projectOfPath(params, message, ["body"]);
          return { project, event: fromComplete({ ...message, project_id }, grant.keyId) };
        },
      );
      await writeAccepted(writer, accepted);
      return sendJsonText(reply, JSON.stringify({ rejected }));
    },
  );
}

/** Returns the project of the path. Errors: validation, if the message names another. */
function projectOfPath(
  { entity, project }: z.output<typeof projectParams>,
  { project_id }: { readonly project_id?: string | null | undefined },
  loc: readonly string[],
): string {
  const ofPath = `${entity}/${project}`;
  if (project_id == null || project_id === ofPath) return ofPath;
  const msg = "Input should be the project of the path, or omitted";
  throw invalid([{ loc: [...loc, "project_id"], msg, type: "value_error" }]);
}
