import { z } from "zod";
import { param, sql, type Sql } from "../query/sql.ts";
import { AppError } from "../shared/errors.ts";
import { isoOf } from "../shared/instant.ts";
import { parseJson } from "../shared/json.ts";
import { parseToken, printToken, selectionHash } from "../http/page-token.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import type { ExportedCall, Manifest } from "./schema.ts";

export interface PageRequest {
  readonly limit: number;
  readonly token: string | null | undefined;
}

interface Row extends Omit<Manifest, "created_at" | "question" | "counts"> {
  readonly created_us: number;
  readonly question: string;
  readonly selected: number;
  readonly exported: number;
  readonly held_out: number;
  readonly left_out: string;
}

const exportPlace = z.tuple([z.int(), z.string()]);
const callPlace = z.tuple([z.int()]);

/** Reads the exports of a project, the latest first. Throws `validation` for an invalid token. */
export async function readExports(engine: Engine, project: Project, { limit, token }: PageRequest) {
  const selection = selectionHash([project]);
  const after = token == null ? undefined : parseToken(token, { place: exportPlace, selection });
  const before =
    after === undefined
      ? sql`1`
      : sql`(created_at, id) < (fromUnixTimestamp64Micro(${param("Int64", after[0])}, 'UTC'), ${param("String", after[1])})`;
  const rows = await readRows(engine, project, before, limit + 1);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    exports: rows.slice(0, limit).map(toManifest),
    next_page_token: last === undefined ? null : printToken([last.created_us, last.id], selection),
  };
}

/** Reads an export with a page of its calls. Throws not_found, and `validation` for an invalid token. */
export async function readExport(
  engine: Engine,
  project: Project,
  { id, limit, token }: PageRequest & { readonly id: string },
) {
  const selection = selectionHash([project, id]);
  const [after] = token == null ? [-1] : parseToken(token, { place: callPlace, selection });
  const [row] = await readRows(engine, project, sql`id = ${param("String", id)}`, 1);
  if (row === undefined) throw new AppError("not_found", "No such export.");
  const calls = await engine.rows<ExportedCall & { place: number }>(
    sql`SELECT place, trace_id, call_id, nullIf(line, 0) AS line, nullIf(toString(reason), '') AS reason FROM dataset_export_calls FINAL
        WHERE project_id = ${param("String", project)} AND export_id = ${param("String", id)} AND place > ${param("Int64", after)}
        ORDER BY place LIMIT ${param("UInt32", limit + 1)}`,
    { name: "dataset_calls_read" },
  );
  const last = calls.length > limit ? calls[limit - 1] : undefined;
  return {
    exports: [toManifest(row)],
    calls: calls.slice(0, limit).map(({ place: _place, ...call }) => call),
    next_page_token: last === undefined ? null : printToken([last.place], selection),
  };
}

function readRows(engine: Engine, project: Project, condition: Sql, limit: number): Promise<Row[]> {
  return engine.rows<Row>(
    sql`SELECT id, toUnixTimestamp64Micro(created_at) AS created_us, created_by, question, format, selected, exported, held_out,
          left_out, sha256, bytes, lines FROM dataset_exports FINAL
        WHERE project_id = ${param("String", project)} AND ${condition}
        ORDER BY created_at DESC, id DESC LIMIT ${param("UInt32", limit)}`,
    { name: "dataset_exports_read" },
  );
}

function toManifest({ created_us, question, selected, exported, held_out, left_out, ...row }: Row): Manifest {
  return {
    id: row.id,
    created_at: isoOf(created_us),
    created_by: row.created_by,
    question: parseJson(question) as Record<string, unknown>,
    format: row.format,
    counts: { selected, exported, held_out, left_out: parseJson(left_out) as Record<string, number> },
    sha256: row.sha256,
    bytes: row.bytes,
    lines: row.lines,
  };
}
