import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Grant } from "../http/auth/grant.ts";
import { deleteAccess, ingestAccess, readAccess } from "../http/auth/guard.ts";
import type { Engine } from "../store/engine.ts";
import { firstOf } from "../http/audit/register-audit.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { sendJsonText } from "../http/json-text.ts";
import { idsToPurge } from "../http/schemas/purge-by-id.ts";
import { validateBatch } from "../http/validate-batch.ts";
import type { Clock } from "../shared/clock.ts";
import { isoOf } from "../shared/instant.ts";
import { AppError, invalid } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import type { FeedbackChange, FeedbackColumns } from "./feedback-row.ts";
import type { FeedbackWriter } from "./feedback-writer.ts";
import { listText } from "./list-response.ts";
import { limitOf, printList, type ListedRow } from "./list.ts";
import { toColumns } from "./normalize.ts";
import { indexBytes } from "./payload-index.ts";
import { schemas } from "./route-schemas.ts";
import { createBody, type FeedbackMessage } from "./schema.ts";

export interface FeedbackDeps {
  readonly engine: Engine;
  readonly writer: FeedbackWriter;
  readonly clock: Clock;
  readonly bodyLimitBytes: number;
}

const tag = "feedback";
const config = { access: ingestAccess, tag };
const purgeConfig = { access: deleteAccess, audit: "feedback.purge", tag } as const;
const replaceConfig = { access: ingestAccess, audit: { begun: "feedback.purge" }, tag } as const;
/** Memory limit of a batch, indexes included: the index of a payload can be far larger than its text. */
const MAX_BATCH_BYTES = 128 * 1024 * 1024;
const ROW_BYTES = 512;

/** Registers the routes that write and query feedback, as the Weave SDKs use it. 2xx means durable. */
export async function feedbackRoutes(root: FastifyInstance, deps: FeedbackDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { writer, clock, bodyLimitBytes: bodyLimit } = deps;

  const toChange = (grant: Grant, message: FeedbackMessage): Stored => {
    if (message.created_at != null && !grant.has("admin")) {
      throw new AppError("forbidden", "Only keys of scope admin can set created_at.");
    }
    const project = grant.project(message.project_id);
    const columns = toColumns(message, grant.keyId);
    const id = message.id ?? randomUUID();
    const us = message.created_at ?? clock.now() * 1000;
    const kind = message.created_at != null ? "set" : message.id != null ? "kept" : "new";
    return { project, id, columns, time: { kind, us }, bytes: bytesOf(columns) };
  };

  app.post(
    "/feedback/create",
    { config, bodyLimit, schema: schemas.createFeedback },
    async (request, reply) => {
      const change = toChange(request.grant, request.body);
      const [createdAtUs] = await writer.write([change]);
      return sendJsonText(reply, responseText(change, createdAtUs!));
    },
  );

  app.post(
    "/feedback/batch/create",
    { config, bodyLimit, schema: schemas.createFeedbackBatch },
    async (request, reply) => {
      let bytes = 0;
      const { accepted, rejected } = await validateBatch(request.body.batch, createBody, (message) => {
        if (bytes > MAX_BATCH_BYTES) throw batchTooLarge();
        const change = toChange(request.grant, message);
        bytes += change.bytes;
        return change;
      });
      const createdAtUs = await writer.write(accepted);
      const res = request.body.batch.map(() => "");
      accepted.forEach((change, at) => (res[change.index] = responseText(change, createdAtUs[at]!)));
      for (const { index, detail } of rejected) res[index] = JSON.stringify({ error: detail });
      return sendJsonText(reply, `{"res":[${res.join(",")}],"rejected":${JSON.stringify(rejected)}}`);
    },
  );

  app.post(
    "/feedback/replace",
    { config: replaceConfig, bodyLimit, schema: schemas.replaceFeedback },
    async (request, reply) => {
      const { grant, body } = request;
      const change = toChange(grant, { ...body, id: body.id ?? body.feedback_id });
      const purge = purgeOf(change.project, body.feedback_id, change.time.us);
      const changes = change.id === purge.id ? [change] : [checkPurge(grant, purge), change];
      if (changes.length > 1) request.audit.begin([change.project], firstOf("ids", [purge.id]));
      const createdAtUs = await writer.write(changes);
      return sendJsonText(reply, responseText(change, createdAtUs.at(-1)!));
    },
  );

  app.post(
    "/feedback/query",
    { config: { access: readAccess, tag }, schema: schemas.queryFeedback },
    async (request, reply) => {
      const { grant, body } = request;
      const statement = printList(grant.project(body.project_id), body);
      const options = { name: "feedback_list", signal: abortOnClose(reply) };
      const found = await deps.engine.rows<ListedRow>(statement, options);
      const rows = found.slice(0, limitOf(body)).filter((row) => row.has_room === 1);
      void reply.header("x-truncated", String(rows.length < found.length));
      return sendJsonText(reply, listText(rows, body.fields ?? undefined));
    },
  );

  app.post("/feedback/purge", { config: purgeConfig, schema: schemas.purgeFeedback }, async (request) => {
    const { grant, body } = request;
    const project = grant.project(body.project_id);
    const ids = idsToPurge(body.query);
    request.audit.begin([project], firstOf("ids", ids));
    await writer.write(ids.map((id) => purgeOf(project, id, clock.now() * 1000)));
    return {};
  });
}

function checkPurge(grant: Grant, change: FeedbackChange): FeedbackChange {
  if (grant.has("calls:delete")) return change;
  throw new AppError("forbidden", "Replacing feedback under a new id requires the scope calls:delete.");
}

function purgeOf(project: Project, id: string, us: number): FeedbackChange {
  return { project, id, columns: undefined, time: { kind: "kept", us }, bytes: ROW_BYTES };
}

function bytesOf(columns: FeedbackColumns): number {
  return ROW_BYTES + columns.payload.length + columns.scorer.length + indexBytes(columns);
}

function batchTooLarge(): AppError {
  const msg = `The batch exceeds ${MAX_BATCH_BYTES} bytes in memory. Send this item in another batch`;
  return invalid([{ loc: ["body"], msg, type: "too_long" }]);
}

type Stored = FeedbackChange & { readonly columns: NonNullable<FeedbackChange["columns"]> };

/** Serializes a stored feedback. Inserts its payload as text, because a parser would round its numbers. */
function responseText({ id, columns }: Stored, createdAtUs: number): string {
  const created_at = isoOf(createdAtUs);
  const members = JSON.stringify({ id, created_at, wb_user_id: columns.svc_user_id });
  return `${members.slice(0, -1)},"payload":${columns.payload}}`;
}
