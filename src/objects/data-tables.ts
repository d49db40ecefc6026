import type { Engine } from "../clickhouse/engine.ts";
import { readInPages } from "../clickhouse/read-in-pages.ts";
import { RowBinaryReader } from "../clickhouse/row-binary.ts";
import { param, sql } from "../query/sql.ts";
import { stringifyJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import type { ContentRow, ContentWriter } from "./content-writer.ts";
import { digestOf } from "./digest.ts";

export interface SavedTable {
  readonly digest: string;
  readonly rowDigests: readonly string[];
}

/** Stores a table, its rows first. */
export async function saveTable(
  writer: ContentWriter,
  project: Project,
  rows: readonly unknown[],
): Promise<SavedTable> {
  const texts = rows.map((row) => stringifyJson(row));
  const rowDigests = texts.map(digestOf);
  const digest = digestOf(rowDigests.join("\n"));
  const newRows = texts.map((val, index): ContentRow => ({
    table: "data_table_rows",
    columns: { project_id: project, digest: rowDigests[index]!, val },
    bytes: val.length + 64,
  }));
  await writer.write(newRows);
  const columns = { project_id: project, digest, row_digests: rowDigests };
  await writer.write([{ table: "data_tables", columns, bytes: rowDigests.length * 46 }]);
  return { digest, rowDigests };
}

export interface TableQuestion {
  readonly digest: string;
  /** Only these rows; all when undefined. */
  readonly rowDigests: readonly string[] | undefined;
  readonly offset: number;
  readonly limit: number | undefined;
}

/** The digests of a table's rows in their order; undefined when there is no such table. */
export async function rowsOfTable(
  engine: Engine,
  project: Project,
  question: TableQuestion,
): Promise<readonly string[] | undefined> {
  const [table] = await engine.rows<{ row_digests: readonly string[] }>(
    sql`SELECT row_digests FROM data_tables FINAL
        PREWHERE project_id = ${param("String", project)} AND digest = ${param("String", question.digest)}`,
    { name: "table_read" },
  );
  if (table === undefined) return undefined;
  const wanted = question.rowDigests === undefined ? undefined : new Set(question.rowDigests);
  const rows = table.row_digests.filter((digest) => wanted?.has(digest) ?? true);
  const { offset, limit } = question;
  return rows.slice(offset, limit === undefined ? undefined : offset + limit);
}

/** `{"rows":[{"digest","val"},…]}` page by page, the values as they were stored. Errors: `StorageError`. */
export async function* tableText(
  engine: Engine,
  project: Project,
  { digests, signal }: { readonly digests: readonly string[]; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const pages = readInPages(digests.values(), {
    engine,
    name: "table_rows_read",
    signal,
    statement: (some) => sql`SELECT digest, val FROM data_table_rows FINAL
      PREWHERE project_id = ${param("String", project)} AND digest IN ${param("Array(String)", some)}`,
  });
  let separator = '{"rows":[';
  for await (const { keys, bytes } of pages) {
    const values = readValues(bytes);
    const rows = keys.map((digest) => `{"digest":"${digest}","val":${values.get(digest) ?? "null"}}`);
    yield Buffer.from(separator + rows.join(","));
    separator = ",";
  }
  yield Buffer.from(separator === "," ? "]}" : `${separator}]}`);
}

function readValues(bytes: Buffer): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) values.set(reader.string(), reader.string());
  return values;
}
