import type { Engine } from "../store/engine.ts";
import { readInPages } from "../store/rows/read-in-pages.ts";
import { RowBinaryReader } from "../store/rows/row-binary.ts";
import { param, sql } from "../query/sql.ts";
import { stringifyJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import type { ContentRow, ContentWriter } from "./content-writer.ts";
import { digestOf } from "./digest.ts";

export interface SavedTable {
  readonly digest: string;
  readonly rowDigests: readonly string[];
}

/** Stores a table, its rows first. Errors: `StorageError`, as for all functions of this file. */
export async function saveTable(
  writer: ContentWriter,
  project: Project,
  rows: readonly unknown[],
): Promise<SavedTable> {
  const rowDigests = await saveRows(writer, project, rows);
  return { digest: await saveRowList(writer, project, rowDigests), rowDigests };
}

/** Stores rows for a table and returns their digests. */
export async function saveRows(
  writer: ContentWriter,
  project: Project,
  rows: readonly unknown[],
): Promise<readonly string[]> {
  const texts = rows.map((row) => stringifyJson(row));
  const rowDigests = texts.map(digestOf);
  const newRows = texts.map((val, index): ContentRow => ({
    table: "data_table_rows",
    columns: { project_id: project, digest: rowDigests[index]!, val },
    bytes: val.length + 64,
  }));
  await writer.write(newRows);
  return rowDigests;
}

/** Stores a table that consists of stored rows and returns its digest. */
export async function saveRowList(
  writer: ContentWriter,
  project: Project,
  rowDigests: readonly string[],
): Promise<string> {
  const digest = digestOf(rowDigests.join("\n"));
  const columns = { project_id: project, digest, row_digests: rowDigests };
  await writer.write([{ table: "data_tables", columns, bytes: rowDigests.length * 46 }]);
  return digest;
}

export interface TableQuery {
  readonly digest: string;
  /** Selects rows; `undefined`: all. */
  readonly rowDigests: readonly string[] | undefined;
  readonly offset: number;
  readonly limit: number | undefined;
}

/** Reads the digests of a table's rows in order; `undefined` if it does not exist. Cost: O(rows of the table). */
export async function rowsOfTable(
  engine: Engine,
  project: Project,
  query: TableQuery,
): Promise<readonly string[] | undefined> {
  const all = await allRowsOfTable(engine, project, query.digest);
  if (all === undefined) return undefined;
  const selected = query.rowDigests === undefined ? undefined : new Set(query.rowDigests);
  const rows = all.filter((digest) => selected?.has(digest) ?? true);
  const { offset, limit } = query;
  return rows.slice(offset, limit === undefined ? undefined : offset + limit);
}

export async function allRowsOfTable(
  engine: Engine,
  project: Project,
  tableDigest: string,
): Promise<readonly string[] | undefined> {
  const [table] = await engine.rows<{ row_digests: readonly string[] }>(
    sql`SELECT row_digests FROM data_tables FINAL
        PREWHERE project_id = ${param("String", project)} AND digest = ${param("String", tableDigest)}`,
    { name: "table_read" },
  );
  return table?.row_digests;
}

/** Counts the rows of a table; `undefined` if it does not exist. */
export async function countRows(
  engine: Engine,
  project: Project,
  tableDigest: string,
): Promise<number | undefined> {
  const [table] = await engine.rows<{ count: number }>(
    sql`SELECT toUInt32(length(row_digests)) AS count FROM data_tables FINAL
        PREWHERE project_id = ${param("String", project)} AND digest = ${param("String", tableDigest)}`,
    { name: "table_count" },
  );
  return table?.count;
}

const DIGESTS_PER_QUERY = 20_000;

/** True if all digests have a stored row. */
export async function hasAllRows(
  engine: Engine,
  project: Project,
  rowDigests: readonly string[],
): Promise<boolean> {
  const selected = [...new Set(rowDigests)];
  for (let from = 0; from < selected.length; from += DIGESTS_PER_QUERY) {
    const page = selected.slice(from, from + DIGESTS_PER_QUERY);
    const [row] = await engine.rows<{ count: number }>(
      sql`SELECT toUInt32(uniqExact(digest)) AS count FROM data_table_rows
          PREWHERE project_id = ${param("String", project)} AND digest IN ${param("Array(String)", page)}`,
      { name: "table_rows_known" },
    );
    if (row?.count !== page.length) return false;
  }
  return true;
}

/** Yields `{"rows":[{"digest","val"},…]}` page by page, values as stored. */
export async function* tableText(
  engine: Engine,
  project: Project,
  selected: { readonly digests: readonly string[]; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  let separator = '{"rows":[';
  for await (const { keys, values } of rowPages(engine, project, selected)) {
    const rows = keys.map((digest) => `{"digest":"${digest}","val":${values.get(digest) ?? "null"}}`);
    yield Buffer.from(separator + rows.join(","));
    separator = ",";
  }
  yield Buffer.from(separator === "," ? "]}" : `${separator}]}`);
}

/** Yields rows as stored, by digest, page by page. */
export async function* rowPages(
  engine: Engine,
  project: Project,
  { digests, signal }: { readonly digests: readonly string[]; readonly signal: AbortSignal },
) {
  const pages = readInPages(digests.values(), {
    engine,
    name: "table_rows_read",
    signal,
    statement: (page) => sql`SELECT digest, val FROM data_table_rows FINAL
      PREWHERE project_id = ${param("String", project)} AND digest IN ${param("Array(String)", page)}`,
  });
  for await (const { keys, bytes } of pages) yield { keys, values: readValues(bytes) };
}

function readValues(bytes: Buffer): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) values.set(reader.string(), reader.string());
  return values;
}
