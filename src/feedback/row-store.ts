import { chunksOf } from "../shared/chunks-of.ts";
import type { Engine } from "../store/engine.ts";
import { param, sql } from "../query/sql.ts";
import { toStoreText } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import { keyText, type FeedbackKey } from "./feedback-row.ts";
import type { NewRow, StoredRow } from "./write-plan.ts";

const IDS_PER_QUERY = 2000;

interface FoundRow {
  readonly project: Project;
  readonly id: string;
  readonly created_at_us: number;
  readonly version: number;
  readonly deleted: 0 | 1;
}

/** Reads the newest version of every row of the given ids, each row once. Errors: `StorageError`. */
export async function findRows(engine: Engine, keys: readonly FeedbackKey[]): Promise<readonly StoredRow[]> {
  const found: StoredRow[] = [];
  const unique = new Map(keys.map((key) => [keyText(key), key]));
  for (const chunk of chunksOf([...unique.values()], IDS_PER_QUERY)) {
    const requested = new Set(chunk.map(keyText));
    const projects = param("Array(String)", [...new Set(chunk.map((key) => key.project))]);
    const ids = param(
      "Array(String)",
      chunk.map((key) => key.id),
    );
    const rows = await engine.rows<FoundRow>(
      sql`SELECT project_id AS project, id, toUnixTimestamp64Micro(created_at) AS created_at_us, version, deleted
        FROM feedback FINAL
        PREWHERE (project_id, created_at, id) IN
          (SELECT project_id, created_at, id FROM feedback_keys WHERE project_id IN ${projects} AND id IN ${ids})`,
      { name: "feedback_find", limits: "ingest" },
    );
    // two projects may share an id, whose key may be in another chunk
    for (const { created_at_us, deleted, ...row } of rows) {
      if (requested.has(keyText(row)))
        found.push({ ...row, createdAtUs: created_at_us, deleted: deleted === 1 });
    }
  }
  return found;
}

/** Stores rows, their keys first: a row without a key could be written again at another time. Errors: `StorageError`. */
export async function insertRows(engine: Engine, rows: readonly NewRow[]): Promise<void> {
  const times = rows.filter((row) => row.columns !== undefined);
  await engine.insert("feedback_keys", times.map(keyColumns), { name: "feedback_times_add" });
  await engine.insert(
    "feedback",
    rows.map((row) => ({
      ...keyColumns(row),
      version: row.version,
      deleted: row.columns === undefined ? 1 : 0,
      ...row.columns,
    })),
    { name: "feedback_add" },
  );
}

function keyColumns({ project, id, createdAtUs }: NewRow) {
  return { project_id: project, id, created_at: toStoreText(createdAtUs) };
}
