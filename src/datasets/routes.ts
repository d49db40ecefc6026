import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../http/auth/guard.ts";
import { NDJSON_TYPE, bodyOf } from "../http/chunks.ts";
import { abortOnClose } from "../http/when-closed.ts";
import type { Clock } from "../shared/clock.ts";
import type { Engine } from "../store/engine.ts";
import { exportDataset } from "./export/export-dataset.ts";
import { readExport, readExports } from "./manifest-store.ts";
import { schemas } from "./route-schemas.ts";

const DEFAULT_LISTED = 100;
const config = { access: readAccess, tag: "datasets" };

/** Registers the routes that export datasets, and list the exports. */
export async function datasetRoutes(
  root: FastifyInstance,
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();

  app.post("/dataset/export", { config, schema: schemas.exportDataset }, async ({ body, grant }, reply) => {
    const { project_id, ...question } = body;
    const project = grant.project(project_id);
    const asked = { project, question, apiKey: grant.keyId, createdAt: clock.now() * 1000 };
    const { id, chunks } = await exportDataset(engine, asked, abortOnClose(reply));
    // an export without lines has failed, and has no id
    const lines = await bodyOf(chunks);
    const sent: FastifyReply = reply.type(NDJSON_TYPE).header("x-sumtree-export-id", id);
    return sent.send(lines);
  });

  app.post("/dataset/query", { config, schema: schemas.queryDatasets }, async ({ body, grant }) => {
    const { export_id: id, limit, page_token: token } = body;
    const project = grant.project(body.project_id);
    const page = { limit: limit ?? DEFAULT_LISTED, token };
    return id == null ? readExports(engine, project, page) : readExport(engine, project, { ...page, id });
  });
}
