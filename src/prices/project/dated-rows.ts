import { randomUUID } from "node:crypto";
import { toStoreText, toStoreTextMs } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";

/** Who set it, and when. */
export interface Origin {
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/** Rows for settings that take effect at a date, each with a new id. */
export function datedRows<Item extends { readonly effectiveAtUs: number }>(
  project: Project,
  items: readonly Item[],
  { createdBy, createdAtMs }: Origin,
) {
  return items.map(({ effectiveAtUs, ...item }) => ({
    project_id: project,
    id: randomUUID() as string,
    ...item,
    effective_date: toStoreText(effectiveAtUs),
    created_by: createdBy,
    created_at: toStoreTextMs(createdAtMs),
    purged: 0,
  }));
}

/** Rows that mark those with these ids as deleted. */
export function purgedRows(project: Project, ids: readonly string[]) {
  return ids.map((id) => ({ project_id: project, id, purged: 1 }));
}
