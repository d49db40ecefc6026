import type { Engine } from "../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../store/group-commit.ts";

export interface ContentRow {
  readonly table: "objects" | "file_chunks" | "data_tables" | "data_table_rows";
  readonly columns: Readonly<Record<string, string | number | readonly string[]>>;
  readonly bytes: number;
}

/** The only way to store objects, files and tables. */
export interface ContentWriter {
  /** Resolves when the rows are durable. Errors: `StorageError`; the caller may retry. */
  write(rows: readonly ContentRow[]): Promise<void>;
  drain(): Promise<void>;
}

const MAX_BATCH_BYTES = 32 * 1024 * 1024;

export function createContentWriter(engine: Engine, settings: GroupCommitSettings): ContentWriter {
  return createGroupCommit<ContentRow>({
    name: "content_write",
    async flush(rows) {
      const byTable = Map.groupBy(rows, (row) => row.table);
      for (const [table, tableRows] of byTable) {
        await engine.insert(
          table,
          tableRows.map((row) => row.columns),
          { name: `${table}_add` },
        );
      }
    },
    sizeOf: (row) => row.bytes,
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
  });
}
