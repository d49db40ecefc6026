import type { Engine } from "../store/engine.ts";
import { param, sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { ContentRow, ContentWriter } from "./content-writer.ts";
import { digestOf } from "./digest.ts";

/** Bytes of a file per row. */
const CHUNK_BYTES = 1024 * 1024;
const CHUNKS_PER_READ = 8;

/** Stores a file and returns its digest. */
export async function saveFile(writer: ContentWriter, project: Project, content: Buffer): Promise<string> {
  const digest = digestOf(content);
  const chunkCount = Math.max(1, Math.ceil(content.length / CHUNK_BYTES));
  const rows = Array.from({ length: chunkCount }, (_, chunk): ContentRow => {
    const text = content.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES).toString("base64");
    const columns = { project_id: project, digest, chunk, chunk_count: chunkCount, content: text };
    return { table: "file_chunks", columns, bytes: text.length };
  });
  await writer.write(rows);
  return digest;
}

interface ChunkRow {
  readonly chunk_count: number;
  readonly content: string;
}

/** Reads a file chunk by chunk; `undefined` if it does not exist. Errors: `StorageError`, possibly after the first chunk. */
export async function readFile(
  engine: Engine,
  project: Project,
  { digest, signal }: { readonly digest: string; readonly signal: AbortSignal },
): Promise<AsyncGenerator<Buffer> | undefined> {
  const readFrom = (chunk: number): Promise<ChunkRow[]> =>
    engine.rows<ChunkRow>(
      sql`SELECT chunk_count, content FROM file_chunks FINAL
          PREWHERE project_id = ${param("String", project)} AND digest = ${param("String", digest)}
            AND chunk >= ${param("UInt32", chunk)} AND chunk < ${param("UInt32", chunk + CHUNKS_PER_READ)}
          ORDER BY chunk`,
      { name: "file_read", signal },
    );
  const first = await readFrom(0);
  return first[0] === undefined ? undefined : chunksOf(first, first[0].chunk_count, readFrom);
}

async function* chunksOf(
  first: readonly ChunkRow[],
  chunkCount: number,
  readFrom: (chunk: number) => Promise<readonly ChunkRow[]>,
): AsyncGenerator<Buffer> {
  let rows = first;
  for (let chunk = 0; chunk < chunkCount; chunk += CHUNKS_PER_READ) {
    if (chunk > 0) rows = await readFrom(chunk);
    for (const { content } of rows) yield Buffer.from(content, "base64");
  }
}
