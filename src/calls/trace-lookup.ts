import { LRUCache } from "lru-cache";
import type { Engine } from "../clickhouse/engine.ts";
import { param, sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";
import { readFences } from "./project-fences.ts";

export interface CallKey {
  readonly project: Project;
  readonly id: string;
}

/** Tells which trace a call belongs to: first from memory of recent starts, then from the store. */
export interface TraceLookup {
  remember(key: CallKey, traceId: string): void;
  /** The traces that are known, by `keyText`. `fresh` asks the store for all of them. */
  find(keys: readonly CallKey[], options?: { fresh: boolean }): Promise<ReadonlyMap<string, string>>;
  /**
   * Those of the projects that were deleted, here or by another replica, since this was last asked of them. What is
   * remembered of them is forgotten.
   */
  deletedSince(projects: readonly Project[]): Promise<ReadonlySet<Project>>;
}

const RECENT_STARTS = 100_000;
const IDS_PER_QUERY = 2000;

export function keyText(key: CallKey): string {
  return pairKey(key.project, key.id);
}

export function createTraceLookup(engine: Engine): TraceLookup {
  const recent = new LRUCache<string, { traceId: string; fence: string | undefined }>({ max: RECENT_STARTS });
  const fences = new LRUCache<Project, string>({ max: RECENT_STARTS });

  return {
    remember: (key, traceId) => recent.set(keyText(key), { traceId, fence: fences.get(key.project) }),
    async find(keys, { fresh } = { fresh: false }) {
      const found = new Map<string, string>();
      const unknown: CallKey[] = [];
      for (const key of keys) {
        const entry = fresh ? undefined : recent.get(keyText(key));
        if (entry === undefined || entry.fence !== fences.get(key.project)) unknown.push(key);
        else found.set(keyText(key), entry.traceId);
      }
      for (const chunk of chunksOf(unknown, IDS_PER_QUERY)) {
        for (const row of await readTraces(engine, chunk)) {
          found.set(keyText({ project: row.project_id, id: row.id }), row.trace_id);
        }
      }
      return found;
    },
    async deletedSince(projects) {
      const deleted = new Set<Project>();
      for (const [project, fence] of await readFences(engine, projects)) {
        if (fences.get(project) !== fence) deleted.add(project);
        fences.set(project, fence);
      }
      return deleted;
    },
  };
}

interface TraceRow {
  readonly project_id: Project;
  readonly id: string;
  readonly trace_id: string;
}

/** May hold calls that were not asked for, when two projects share an id; callers look up by key. */
function readTraces(engine: Engine, keys: readonly CallKey[]): Promise<TraceRow[]> {
  return engine.rows<TraceRow>(
    sql`SELECT project_id, id, min(trace_id) AS trace_id FROM call_traces
        WHERE project_id IN ${param("Array(String)", [...new Set(keys.map((key) => key.project))])}
          AND id IN ${param(
            "Array(String)",
            keys.map((key) => key.id),
          )}
        GROUP BY project_id, id`,
    { name: "call_traces_find", limits: "ingest", mustBeCurrent: true },
  );
}

export function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const chunks: Item[][] = [];
  for (let from = 0; from < items.length; from += size) chunks.push(items.slice(from, from + size));
  return chunks;
}
