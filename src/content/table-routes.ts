import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { anyAccess, ingestAccess } from "../http/auth/guard.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { JSON_TYPE, sendJsonText } from "../http/json-text.ts";
import { invalid, type AppError } from "../shared/errors.ts";
import { isJsonObject } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import { sendChunks } from "../http/chunks.ts";
import { notFound, projectByDigest } from "./by-digest.ts";
import type { ContentWriter } from "./content-writer.ts";
import {
  allRowsOfTable,
  countRows,
  hasAllRows,
  rowsOfTable,
  saveRowList,
  saveRows,
  saveTable,
  tableText,
} from "./data-tables.ts";
import type { ContentDeps } from "./content-deps.ts";
import { MAX_ROWS, MAX_UPDATES, type TableUpdate } from "./table-schema.ts";
import { schemas } from "./route-schemas.ts";
import { applyChanges, type RowChange } from "./table-update.ts";

export function tableRoutes(root: FastifyInstance, deps: ContentDeps): void {
  writingRoutes(root, deps);
  readingRoutes(root, deps);
}

function writingRoutes(root: FastifyInstance, { engine, writer, bodyLimitBytes: bodyLimit }: ContentDeps) {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const ingest = { config: { access: ingestAccess, tag: "objects" }, bodyLimit };

  app.post("/table/create", { ...ingest, schema: schemas.createTable }, async (request, reply) => {
    const { project_id, rows } = request.body.table;
    const project = request.grant.project(project_id, ["body", "table", "project_id"]);
    const { digest, rowDigests } = await saveTable(writer, project, rows);
    return sendJsonText(reply, JSON.stringify({ digest, row_digests: rowDigests }));
  });

  const fromDigests = { ...ingest, schema: schemas.createTableFromDigests };
  app.post("/table/create_from_digests", fromDigests, async (request) => {
    const { project_id, row_digests } = request.body;
    const project = request.grant.project(project_id);
    if (!(await hasAllRows(engine, project, row_digests))) throw notFound("row");
    return { digest: await saveRowList(writer, project, row_digests) };
  });

  const update = { ...ingest, preValidation: limitUpdates, schema: schemas.updateTable };
  app.post("/table/update", update, async (request) => {
    const { project_id, base_digest, updates } = request.body;
    const project = request.grant.project(project_id);
    const before = await allRowsOfTable(engine, project, base_digest);
    if (before === undefined) throw notFound("table");
    const after = applyChanges(before, await saveNewRows(writer, project, updates));
    if ("loc" in after) throw invalid([after]);
    if (after.rows.length > MAX_ROWS) throw tooManyRows();
    return {
      digest: await saveRowList(writer, project, after.rows),
      updated_row_digests: [...after.updated],
    };
  });
}

function readingRoutes(root: FastifyInstance, { engine, bodyLimitBytes: bodyLimit }: ContentDeps) {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const byDigest = { config: { access: anyAccess, tag: "objects" }, bodyLimit };

  app.post("/table/query", { ...byDigest, schema: schemas.queryTable }, async (request, reply) => {
    const { project_id, digest, filter, offset, limit } = request.body;
    const project = projectByDigest(request.grant, project_id);
    const rows = await rowsOfTable(engine, project, {
      digest,
      rowDigests: filter?.row_digests ?? undefined,
      offset: offset ?? 0,
      limit: limit ?? undefined,
    });
    if (rows === undefined) throw notFound("table");
    const chunks = tableText(engine, project, { digests: rows, signal: abortOnClose(reply) });
    return sendChunks(reply, JSON_TYPE, chunks);
  });

  app.post("/table/query_stats", { ...byDigest, schema: schemas.countTableRows }, async (request) => {
    const project = projectByDigest(request.grant, request.body.project_id);
    const count = await countRows(engine, project, request.body.digest);
    if (count === undefined) throw notFound("table");
    return { count };
  });
}

/** Checked before the updates themselves, because a million issues take seconds. */
async function limitUpdates({ body }: FastifyRequest): Promise<void> {
  const updates = isJsonObject(body) ? body["updates"] : undefined;
  if (!Array.isArray(updates) || updates.length <= MAX_UPDATES) return;
  const msg = `List should have at most ${MAX_UPDATES} items`;
  throw invalid([{ loc: ["body", "updates"], msg, type: "too_long" }]);
}

/** Stores the rows that updates add and returns the updates with the rows' digests. */
async function saveNewRows(
  writer: ContentWriter,
  project: Project,
  updates: readonly TableUpdate[],
): Promise<readonly RowChange[]> {
  const added = updates.flatMap(({ append, insert }) => append ?? insert ?? []);
  const digests = (
    await saveRows(
      writer,
      project,
      added.map(({ row }) => row),
    )
  ).values();
  return updates.map(({ append, insert, pop }): RowChange => {
    if (append !== undefined) return { kind: "append", row: digests.next().value! };
    if (insert !== undefined) return { kind: "insert", index: insert.index, row: digests.next().value! };
    return { kind: "pop", index: pop!.index };
  });
}

function tooManyRows(): AppError {
  const msg = `A table has at most ${MAX_ROWS} rows`;
  return invalid([{ loc: ["body", "updates"], msg, type: "too_long" }]);
}
