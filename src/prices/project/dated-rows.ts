import { randomUUID } from "node:crypto";
import { toStoreText, toStoreTextMs } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";

/** Key that set it, and time. */
export interface Origin {
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/**
 * Rows for settings that take effect at a date, each with a new id. They are set after those that are stored, whatever the clocks of
 * the services say that set them.
 */
export function datedRows<Item extends { readonly effectiveAtUs: number }>(
  project: Project,
  items: readonly Item[],
  { origin, stored }: { readonly origin: Origin; readonly stored: readonly { createdAtMs: number }[] },
) {
  const { createdBy } = origin;
  const createdAtMs = stored.reduce((at, one) => Math.max(at, one.createdAtMs + 1), origin.createdAtMs);
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
